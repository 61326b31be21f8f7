// Create a monitor and show the state of all, with a token that stays fresh and retries that never act twice.
//
// How to generate the SDK and run this: docs/guides/generate-an-sdk.md. BASE_URL, CLIENT_ID and CLIENT_SECRET come from
// the environment.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	mathrand "math/rand"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"example.com/sdks/monitoring"
)

const (
	attempts   = 6
	renewEarly = 5 * time.Minute
)

func main() {
	ctx := context.Background()
	api := newClient(&tokenTransport{tokens: newClient(patientTransport{}).AuthAPI})

	wanted := monitoring.NewMonitorCreate()
	wanted.SetUrl("https://shop.example.com/health")
	wanted.SetIntervalSeconds(60)
	// One key per write, not per attempt: it lets the service recognise a repetition.
	created, _, err := api.MonitorsAPI.CreateMonitor(ctx).MonitorCreate(*wanted).IdempotencyKey(newKey()).Execute()
	if err != nil {
		log.Fatal("not created: ", err)
	}
	printMonitors(ctx, api)
	printUptime(ctx, api, created.Id)
	printOpenIncidents(ctx, api)
}

func printMonitors(ctx context.Context, api *monitoring.APIClient) {
	request := api.MonitorsAPI.ListMonitors(ctx)
	for {
		page, _, err := request.Execute()
		if err != nil {
			log.Fatal("not listed: ", err)
		}
		for _, monitor := range page.Monitors {
			fmt.Println(monitor.Status, monitor.Name, monitor.Url)
		}
		if page.NextCursor.Get() == nil {
			return
		}
		request = request.Cursor(*page.NextCursor.Get())
	}
}

func printUptime(ctx context.Context, api *monitoring.APIClient, monitorId string) {
	uptime, _, err := api.ChecksAPI.GetUptime(ctx, monitorId).Execute()
	if err != nil {
		log.Fatal("no uptime: ", err)
	}
	if ratio := uptime.UptimeRatio.Get(); ratio != nil {
		fmt.Printf("uptime of 30 days: %.3f%%\n", *ratio*100)
	} else {
		fmt.Println("uptime of 30 days: not known yet")
	}
}

func printOpenIncidents(ctx context.Context, api *monitoring.APIClient) {
	page, _, err := api.IncidentsAPI.ListIncidents(ctx).State(monitoring.INCIDENTSTATE_OPEN).Execute()
	if err != nil {
		log.Fatal("no incidents: ", err)
	}
	for _, incident := range page.Incidents { // the newest 50
		fmt.Println("down:", incident.ErrorMessage)
	}
}

func newClient(transport http.RoundTripper) *monitoring.APIClient {
	configuration := monitoring.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("BASE_URL")
	configuration.HTTPClient = &http.Client{Transport: transport}
	return monitoring.NewAPIClient(configuration)
}

func newKey() string {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		log.Fatal(err)
	}
	return hex.EncodeToString(random)
}

// tokenTransport sends a token, and gets a new one if there is none, or if it expires soon or is refused.
type tokenTransport struct {
	tokens  *monitoring.AuthAPIService
	lock    sync.Mutex
	token   string
	renewAt time.Time
}

func (t *tokenTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := t.tokenUnlike(request.Context(), "")
	if err != nil {
		return nil, err
	}
	response, err := sendWithToken(request, token)
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	discard(response)
	if token, err = t.tokenUnlike(request.Context(), token); err != nil {
		return nil, err
	}
	return sendWithToken(request, token)
}

// tokenUnlike returns the current token, unless it is the refused one or expires soon.
func (t *tokenTransport) tokenUnlike(ctx context.Context, refused string) (string, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.token != refused && time.Now().Before(t.renewAt) {
		return t.token, nil
	}
	issued, _, err := t.tokens.IssueToken(ctx).
		GrantType("client_credentials").
		ClientId(os.Getenv("CLIENT_ID")).
		ClientSecret(os.Getenv("CLIENT_SECRET")).
		Execute()
	if err != nil {
		return "", fmt.Errorf("no token: %w", err)
	}
	t.token = issued.AccessToken
	t.renewAt = time.Now().Add(time.Duration(issued.ExpiresIn)*time.Second - renewEarly)
	return t.token, nil
}

func sendWithToken(request *http.Request, token string) (*http.Response, error) {
	copy := request.Clone(request.Context())
	copy.Header.Set("Authorization", "Bearer "+token)
	return patientTransport{}.RoundTrip(copy)
}

// patientTransport sends again after 429, 5xx and a broken connection: when the service says, else with growing pauses.
type patientTransport struct{}

func (patientTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		again := request.Clone(request.Context())
		if request.GetBody != nil {
			again.Body, _ = request.GetBody()
		}
		response, err := http.DefaultTransport.RoundTrip(again)
		isTransient := err != nil || response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= 500
		if !isTransient || attempt == attempts {
			return response, err
		}
		pause := time.NewTimer(pauseBefore(attempt, response))
		if response != nil {
			discard(response)
		}
		select {
		case <-pause.C:
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
}

// pauseBefore is at least Retry-After, and differs between clients that failed together.
func pauseBefore(attempt int, response *http.Response) time.Duration {
	if response != nil {
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil && response.StatusCode == http.StatusTooManyRequests {
			seconds, err = 60, nil
		}
		if err == nil {
			return time.Duration(seconds)*time.Second + randomUpTo(500*time.Millisecond)
		}
	}
	longest := time.Second << (attempt - 1)
	return longest/2 + randomUpTo(longest/2)
}

func randomUpTo(limit time.Duration) time.Duration {
	return time.Duration(mathrand.Int63n(int64(limit)))
}

// discard lets the connection be used again.
func discard(response *http.Response) {
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}
