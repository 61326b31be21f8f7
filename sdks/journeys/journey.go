// A monitor's life and an article's way, through openapi-generator's Go SDK.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"time"

	"example.com/sdks/monitoring"
)

func main() {
	configuration := monitoring.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("BASE_URL")
	client := monitoring.NewAPIClient(configuration)
	liveAMonitorsLife(client)
	followAnArticle(client)
}

func liveAMonitorsLife(client *monitoring.APIClient) {
	token, _, err := client.AuthAPI.IssueToken(context.Background()).
		GrantType("client_credentials").
		ClientId(os.Getenv("CLIENT_ID")).
		ClientSecret(os.Getenv("CLIENT_SECRET")).
		Execute()
	must(err)
	ctx := context.WithValue(context.Background(), monitoring.ContextAccessToken, token.AccessToken)
	monitors := client.MonitorsAPI

	var ids []string
	for number := 0; number < 3; number++ {
		wanted := monitoring.NewMonitorCreate(fmt.Sprintf("https://shop.example.com/%d", number))
		wanted.SetTags([]string{"shop"})
		write := monitors.CreateMonitor(ctx).MonitorCreate(*wanted).IdempotencyKey(fmt.Sprintf("go-%d", number))
		created, _, err := write.Execute()
		must(err)
		repeated, _, err := write.Execute()
		must(err)
		check(reflect.DeepEqual(created, repeated), "a repeated request acts once")
		check(created.Status == monitoring.MONITORSTATUS_PENDING, "a new monitor is pending")
		check(created.IntervalSeconds == 300, "the interval has its default")
		ids = append(ids, created.Id)
	}

	first, response, err := monitors.GetMonitor(ctx, ids[0]).Execute()
	must(err)
	etag := response.Header.Get("ETag")
	update := monitoring.NewMonitorUpdate()
	update.SetIntervalSeconds(600)
	changed, _, err := monitors.UpdateMonitor(ctx, ids[0]).MonitorUpdate(*update).IfMatch(etag).Execute()
	must(err)
	check(changed.IntervalSeconds == 600, "the change is made")
	check(reflect.DeepEqual(changed.Tags, first.Tags), "what is left out stays")
	update.SetIntervalSecondsNil()
	changed, _, err = monitors.UpdateMonitor(ctx, ids[0]).MonitorUpdate(*update).Execute()
	must(err)
	check(changed.IntervalSeconds == 300, "null is the default again")
	response, err = monitors.DeleteMonitor(ctx, ids[0]).IfMatch(etag).Execute()
	expect(http.StatusPreconditionFailed, "Monitor has changed", response, err)

	check(reflect.DeepEqual(listIds(ctx, monitors), []string{ids[2], ids[1], ids[0]}), "the pages hold every monitor")

	for _, id := range ids {
		_, err := monitors.DeleteMonitor(ctx, id).Execute()
		must(err)
	}
	_, response, err = monitors.GetMonitor(ctx, ids[0]).Execute()
	expect(http.StatusNotFound, "Monitor not found", response, err)
}

func listIds(ctx context.Context, monitors *monitoring.MonitorsAPIService) []string {
	var ids []string
	request := monitors.ListMonitors(ctx).Limit(2)
	for {
		page, _, err := request.Execute()
		must(err)
		for _, monitor := range page.Monitors {
			ids = append(ids, monitor.Id)
		}
		cursor := page.NextCursor.Get()
		if cursor == nil {
			return ids
		}
		request = request.Cursor(*cursor)
	}
}

func followAnArticle(client *monitoring.APIClient) {
	ctx := context.WithValue(context.Background(), monitoring.ContextAPIKeys, map[string]monitoring.APIKey{
		"webhookSecret": {Key: os.Getenv("WEBHOOK_SECRET")},
	})
	content := monitoring.NewArticleContent()
	content.SetTitle("Shoes")
	content.SetContent("# Fit first")
	content.SetFormat("markdown")
	content.SetSlug("go")
	delivery := monitoring.NewArticleDelivery(*content)
	accepted, _, err := client.ArticlesAPI.DeliverArticle(ctx).ArticleDelivery(*delivery).Execute()
	must(err)
	check(accepted.Status == monitoring.DELIVERYSTATUS_ACCEPTED, "the article is accepted")

	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		article, _, err := client.ArticlesAPI.GetArticle(ctx, *accepted.ArticleId.Get()).Execute()
		must(err)
		locales := map[string]bool{}
		done := true
		for _, translation := range article.Translations {
			locales[translation.Locale] = true
			done = done && translation.Status == monitoring.TRANSLATIONSTATUS_TRANSLATED
		}
		for _, locale := range accepted.Locales {
			check(locales[locale], "every locale has its state")
		}
		if done {
			return
		}
	}
	log.Fatal("the article was never translated")
}

func expect(status int, sentence string, response *http.Response, err error) {
	check(response.StatusCode == status, fmt.Sprintf("the status is %d, not %d", status, response.StatusCode))
	failure, ok := err.(*monitoring.GenericOpenAPIError)
	check(ok, "it is an error of the document")
	said := reflect.ValueOf(failure.Model()).FieldByName("Error").String()
	check(said == sentence, fmt.Sprintf("it says %q, not %q", sentence, said))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(holds bool, promise string) {
	if !holds {
		log.Fatal(promise)
	}
}
