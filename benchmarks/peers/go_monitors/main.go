// The monitors in Go: net/http, pgx and redigo, as one would write them by hand for speed. Like the peers in
// Python it validates what it is sent, and never what it answers.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v4/pgxpool"
)

// refused is a request that is answered with this status and sentence.
type refused struct {
	status   int
	sentence string
}

func (r refused) Error() string { return r.sentence }

type service struct {
	pool    *pgxpool.Pool
	callers *callers
}

func main() {
	pool, err := pgxpool.Connect(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	seconds, _ := strconv.ParseFloat(os.Getenv("KEY_CACHE_SECONDS"), 64)
	callers := newCallers(pool, os.Getenv("REDIS_URL"), os.Getenv("SIGNING_KEY"), time.Duration(seconds*1e9))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, &service{pool, callers}))
}

func (s *service) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	if err := s.route(writer, request); err != nil {
		refusal, ok := err.(refused)
		if !ok {
			log.Print(err)
			refusal = refused{500, "Internal error"}
		}
		body := append(appendString([]byte(`{"error":`), refusal.sentence), '}')
		send(writer, refusal.status, body)
	}
}

func (s *service) route(writer http.ResponseWriter, request *http.Request) error {
	id := strings.TrimPrefix(request.URL.Path, "/api/monitors/")
	isOne := id != request.URL.Path
	switch {
	case isOne && request.Method == http.MethodGet:
		return s.get(writer, request, id)
	case request.URL.Path == "/api/monitors" && request.Method == http.MethodGet:
		return s.list(writer, request)
	case request.URL.Path == "/api/monitors" && request.Method == http.MethodPost:
		return s.create(writer, request)
	}
	return refused{404, "Not found"}
}

func (s *service) list(writer http.ResponseWriter, request *http.Request) error {
	by, err := s.callers.letIn(writer, request, "monitors:read")
	if err != nil {
		return err
	}
	limit, cursor := 50, ""
	if request.URL.RawQuery != "" {
		query := request.URL.Query()
		cursor = query.Get("cursor")
		if asked := query.Get("limit"); asked != "" {
			if limit, err = strconv.Atoi(asked); err != nil || limit < 1 || limit > 100 {
				return refused{400, "limit: must be between 1 and 100"}
			}
		}
	}
	body, err := s.page(request.Context(), by.team, limit, cursor)
	if err != nil {
		return err
	}
	return send(writer, 200, body)
}

func (s *service) get(writer http.ResponseWriter, request *http.Request, written string) error {
	by, err := s.callers.letIn(writer, request, "monitors:read")
	if err != nil {
		return err
	}
	id, err := readUUID(written)
	if err != nil {
		return refused{400, "monitor_id: must be a UUID"}
	}
	body, version, err := s.one(request.Context(), by.team, id)
	if err != nil {
		return err
	}
	writer.Header().Set("ETag", `"`+strconv.Itoa(int(version))+`"`)
	return send(writer, 200, body)
}

func (s *service) create(writer http.ResponseWriter, request *http.Request) error {
	by, err := s.callers.letIn(writer, request, "monitors:write")
	if err != nil {
		return err
	}
	given, err := readConfiguration(request.Body)
	if err != nil {
		return err
	}
	address, _, _ := net.SplitHostPort(request.RemoteAddr)
	created, err := s.insert(request.Context(), by, address, given)
	if err != nil {
		return err
	}
	writer.Header().Set("Location", "/api/monitors/"+writeUUID(created.id))
	writer.Header().Set("ETag", `"1"`)
	return send(writer, 201, created.appendJSON(make([]byte, 0, 1024)))
}

func send(writer http.ResponseWriter, status int, body []byte) error {
	writer.Header().Set("Content-Type", "application/json")
	writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	writer.WriteHeader(status)
	_, err := writer.Write(body)
	return err
}
