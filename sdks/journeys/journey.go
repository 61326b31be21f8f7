// A monitor's life, what it tells whom, and an article's way, through openapi-generator's Go SDK.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"example.com/sdks/monitoring"
)

func main() {
	configuration := monitoring.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("BASE_URL")
	client := monitoring.NewAPIClient(configuration)
	ctx := logIn(client)
	liveAMonitorsLife(ctx, client)
	learnWhatIsDown(ctx, client)
	beToldOfIncidents(ctx, client)
	followAnArticle(client)
}

func logIn(client *monitoring.APIClient) context.Context {
	token, _, err := client.AuthAPI.IssueToken(context.Background()).
		GrantType("client_credentials").
		ClientId(os.Getenv("CLIENT_ID")).
		ClientSecret(os.Getenv("CLIENT_SECRET")).
		Execute()
	must(err)
	return context.WithValue(context.Background(), monitoring.ContextAccessToken, token.AccessToken)
}

func liveAMonitorsLife(ctx context.Context, client *monitoring.APIClient) {
	monitors := client.MonitorsAPI

	var ids []string
	for number := 0; number < 3; number++ {
		wanted := monitoring.NewMonitorCreate()
		wanted.SetUrl(fmt.Sprintf("https://shop.example.com/%d", number))
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

	askHowItIs(ctx, client, ids[0])

	for _, id := range ids {
		_, err := monitors.DeleteMonitor(ctx, id).Execute()
		must(err)
	}
	_, response, err = monitors.GetMonitor(ctx, ids[0]).Execute()
	expect(http.StatusNotFound, "Monitor not found", response, err)
}

func listIds(ctx context.Context, monitors *monitoring.MonitorsAPIService) []string {
	var ids []string
	request := monitors.ListMonitors(ctx).Limit(2).Tag("shop")
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

func askHowItIs(ctx context.Context, client *monitoring.APIClient, monitorId string) {
	checks := client.ChecksAPI
	requested, _, err := checks.CheckMonitorNow(ctx, monitorId).Execute()
	must(err)
	check(requested.MonitorId == monitorId, "the check is asked for")

	now := time.Now()
	weekAgo := now.AddDate(0, 0, -7)
	week := checks.GetUptime(ctx, monitorId).From(weekAgo).To(now).Window(monitoring.WINDOW_DAY)
	uptime, _, err := week.Execute()
	must(err)
	check(uptime.UptimeRatio.Get() == nil, "nobody looked yet")
	first, last := uptime.Windows[0], uptime.Windows[len(uptime.Windows)-1]
	check(first.StartsAt.Equal(weekAgo.Truncate(time.Microsecond)), "the windows begin when the week does")
	check(last.EndsAt.Equal(now.Truncate(time.Microsecond)), "the windows end when the week does")

	times, _, err := checks.GetResponseTimes(ctx, monitorId).Execute()
	must(err)
	check(times.CheckCount == 0 && times.P95Ms.Get() == nil && len(times.Windows) == 0, "there are no response times")
}

func learnWhatIsDown(ctx context.Context, client *monitoring.APIClient) {
	incidents := client.IncidentsAPI
	page, _, err := incidents.ListIncidents(ctx).State(monitoring.INCIDENTSTATE_OPEN).Execute()
	must(err)
	incident := page.Incidents[0]
	check(incident.Error == monitoring.CHECKERROR_UNEXPECTED_STATUS, "the incident says why")
	check(incident.Resolution.Get() == nil, "the incident goes on")

	page, _, err = incidents.ListIncidents(ctx).MonitorId(incident.MonitorId).Execute()
	must(err)
	check(len(page.Incidents) == 2, "another one was before")
	check(page.Incidents[1].GetResolution() == monitoring.INCIDENTRESOLUTION_RECOVERED, "the other one is over")

	checks, _, err := client.ChecksAPI.ListChecks(ctx, incident.MonitorId).Execute()
	must(err)
	check(len(checks.Checks) == 2, "there are two checks")
	check(checks.Checks[0].GetError() == monitoring.CHECKERROR_UNEXPECTED_STATUS, "the last check failed")
	check(checks.Checks[1].Error.Get() == nil, "the one before did not")
}

func beToldOfIncidents(ctx context.Context, client *monitoring.APIClient) {
	notifications := client.NotificationsAPI
	opened := []monitoring.NotificationEvent{monitoring.NOTIFICATIONEVENT_INCIDENT_OPENED}
	wanted := monitoring.NewWebhookChannelCreate("webhook", "https://pager.example.com/hooks")
	wanted.SetEvents(opened)
	channel := monitoring.WebhookChannelCreateAsNotificationChannelCreate(wanted)
	created, _, err := notifications.CreateNotificationChannel(ctx).NotificationChannelCreate(channel).Execute()
	must(err)
	webhook := created.WebhookChannelCreated
	check(reflect.DeepEqual(webhook.Events, opened), "the webhook is told what was asked for")
	check(strings.HasPrefix(webhook.Secret, "whsec_"), "the secret is that of a webhook")

	sent, _, err := notifications.TestNotificationChannel(ctx, webhook.Id).Execute()
	must(err)
	check(sent.Event == monitoring.NOTIFICATIONTYPE_TEST, "the message is a test")
	page, _, err := notifications.ListNotificationDeliveries(ctx, webhook.Id).Execute()
	must(err)
	check(len(page.Deliveries) == 1 && page.Deliveries[0].Id == sent.Id, "the message is among the deliveries")

	off := monitoring.NewWebhookChannelUpdate("webhook")
	off.SetEnabled(false)
	change := monitoring.WebhookChannelUpdateAsNotificationChannelUpdate(off)
	disabled, _, err := notifications.UpdateNotificationChannel(ctx, webhook.Id).NotificationChannelUpdate(change).Execute()
	must(err)
	check(!disabled.WebhookChannel.Enabled, "the webhook is off")
	_, _, err = notifications.TestNotificationChannel(ctx, webhook.Id).Execute()
	var failure *monitoring.GenericOpenAPIError
	check(errors.As(err, &failure), "nothing is sent to a disabled webhook")
	refused, ok := failure.Model().(monitoring.NotificationChannelSilentError)
	check(ok && refused.Error == "Notification channel is disabled", "the error says why")

	_, err = notifications.DeleteNotificationChannel(ctx, webhook.Id).Execute()
	must(err)
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
	delivery := monitoring.NewArticleSubmission()
	delivery.SetArticle(*content)
	accepted, _, err := client.ArticlesAPI.DeliverArticle(ctx).ArticleSubmission(*delivery).Execute()
	must(err)
	check(accepted.Status == monitoring.SUBMISSIONSTATUS_ACCEPTED, "the article is accepted")

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
