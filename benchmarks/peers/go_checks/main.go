// The client of Go's standard library, checking a URL without storing anything. GET /checks?url=…&count=… makes
// that many checks, fifty at once, each on a new connection with a full handshake, and answers when all are up.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
)

const atOnce = 50

func main() {
	authorities := x509.NewCertPool()
	written, err := os.ReadFile(os.Getenv("CA_FILE"))
	if err != nil || !authorities.AppendCertsFromPEM(written) {
		log.Fatal("CA_FILE has no certificates")
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: authorities},
	}}
	http.HandleFunc("/checks", func(writer http.ResponseWriter, request *http.Request) {
		count, _ := strconv.Atoi(request.URL.Query().Get("count"))
		if err := checkAll(client, request.URL.Query().Get("url"), count); err != nil {
			http.Error(writer, err.Error(), http.StatusBadGateway)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}

func checkAll(client *http.Client, url string, count int) error {
	waiting, failures := make(chan struct{}, count), make(chan error, atOnce)
	for number := 0; number < count; number++ {
		waiting <- struct{}{}
	}
	close(waiting)
	var checking sync.WaitGroup
	for lane := 0; lane < atOnce; lane++ {
		checking.Add(1)
		go func() {
			defer checking.Done()
			for range waiting {
				if err := check(client, url); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	checking.Wait()
	close(failures)
	return <-failures
}

func check(client *http.Client, url string) error {
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err = io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered %s", answer.Status)
	}
	return err
}
