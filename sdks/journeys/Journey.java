import com.example.monitoring.ApiClient;
import com.example.monitoring.ApiException;
import com.example.monitoring.ApiResponse;
import com.example.monitoring.api.ArticlesApi;
import com.example.monitoring.api.AuthApi;
import com.example.monitoring.api.ChecksApi;
import com.example.monitoring.api.IncidentsApi;
import com.example.monitoring.api.MonitorsApi;
import com.example.monitoring.api.NotificationsApi;
import com.example.monitoring.model.AccessToken;
import com.example.monitoring.model.Article;
import com.example.monitoring.model.ArticleAccepted;
import com.example.monitoring.model.ArticleContent;
import com.example.monitoring.model.ArticleSubmission;
import com.example.monitoring.model.Check;
import com.example.monitoring.model.CheckError;
import com.example.monitoring.model.SubmissionStatus;
import com.example.monitoring.model.Incident;
import com.example.monitoring.model.IncidentResolution;
import com.example.monitoring.model.IncidentState;
import com.example.monitoring.model.Monitor;
import com.example.monitoring.model.MonitorCreate;
import com.example.monitoring.model.MonitorList;
import com.example.monitoring.model.MonitorStatus;
import com.example.monitoring.model.MonitorUpdate;
import com.example.monitoring.model.NotificationDelivery;
import com.example.monitoring.model.NotificationEvent;
import com.example.monitoring.model.NotificationType;
import com.example.monitoring.model.NotificationChannel;
import com.example.monitoring.model.NotificationChannelCreate;
import com.example.monitoring.model.NotificationChannelSilentError;
import com.example.monitoring.model.NotificationChannelUpdate;
import com.example.monitoring.model.ResponseTimes;
import com.example.monitoring.model.Translation;
import com.example.monitoring.model.TranslationStatus;
import com.example.monitoring.model.Uptime;
import com.example.monitoring.model.UptimeWindow;
import com.example.monitoring.model.WebhookChannelCreate;
import com.example.monitoring.model.WebhookChannelCreated;
import com.example.monitoring.model.WebhookChannelUpdate;
import com.example.monitoring.model.Window;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** A monitor's life, what it tells whom, and an article's way, through openapi-generator's Java SDK. */
public final class Journey {
  private interface Call {
    void send() throws ApiException;
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = logIn();
    liveAMonitorsLife(client);
    learnWhatIsDown(client);
    beToldOfIncidents(client);
    followAnArticle();
  }

  private static ApiClient logIn() throws ApiException {
    AccessToken token =
        new AuthApi(newClient())
            .issueToken("client_credentials", System.getenv("CLIENT_ID"), System.getenv("CLIENT_SECRET"), null);
    ApiClient client = newClient();
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token.getAccessToken()));
    return client;
  }

  private static void liveAMonitorsLife(ApiClient client) throws ApiException {
    MonitorsApi monitors = new MonitorsApi(client);

    List<UUID> ids = new ArrayList<>();
    for (int number = 0; number < 3; number++) {
      MonitorCreate wanted = new MonitorCreate().url("https://shop.example.com/" + number).tags(Set.of("shop"));
      String key = UUID.randomUUID().toString();
      Monitor created = monitors.createMonitor(wanted, key);
      check(created.equals(monitors.createMonitor(wanted, key)), "a repeated request acts once");
      check(created.getStatus() == MonitorStatus.PENDING, "a new monitor is pending");
      check(created.getIntervalSeconds() == 300, "the interval has its default");
      ids.add(created.getId());
    }

    ApiResponse<Monitor> first = monitors.getMonitorWithHttpInfo(ids.get(0), null);
    String etag = first.getHeaders().get("etag").get(0);
    Monitor changed = monitors.updateMonitor(ids.get(0), new MonitorUpdate().intervalSeconds(600), null, etag);
    check(changed.getIntervalSeconds() == 600, "the change is made");
    check(changed.getTags().equals(first.getData().getTags()), "what is left out stays");
    expect(412, "Monitor has changed", () -> monitors.deleteMonitor(ids.get(0), null, etag));

    List<UUID> newestFirst = new ArrayList<>(ids);
    Collections.reverse(newestFirst);
    check(listIds(monitors).equals(newestFirst), "the pages hold every monitor");

    askHowItIs(new ChecksApi(client), ids.get(0));

    for (UUID id : ids) {
      monitors.deleteMonitor(id, null, null);
    }
    expect(404, "Monitor not found", () -> monitors.getMonitor(ids.get(0), null));
  }

  private static List<UUID> listIds(MonitorsApi monitors) throws ApiException {
    List<UUID> ids = new ArrayList<>();
    String cursor = null;
    do {
      MonitorList page = monitors.listMonitors(2, cursor, null, null, "shop", null, null, null);
      page.getMonitors().forEach(monitor -> ids.add(monitor.getId()));
      cursor = page.getNextCursor();
    } while (cursor != null);
    return ids;
  }

  private static void askHowItIs(ChecksApi checks, UUID monitorId) throws ApiException {
    check(checks.checkMonitorNow(monitorId, null).getMonitorId().equals(monitorId), "the check is asked for");

    OffsetDateTime now = OffsetDateTime.now();
    OffsetDateTime weekAgo = now.minusDays(7);
    Uptime uptime = checks.getUptime(monitorId, weekAgo, now, Window.DAY);
    check(uptime.getUptimeRatio() == null, "nobody looked yet");
    List<UptimeWindow> windows = uptime.getWindows();
    check(
        windows.get(0).getStartsAt().isEqual(weekAgo.truncatedTo(ChronoUnit.MICROS)),
        "the windows begin when the week does");
    check(
        windows.get(windows.size() - 1).getEndsAt().isEqual(now.truncatedTo(ChronoUnit.MICROS)),
        "the windows end when the week does");

    ResponseTimes times = checks.getResponseTimes(monitorId, null, null, null);
    check(times.getCheckCount() == 0 && times.getP95Ms() == null, "there are no response times");
    check(times.getWindows().isEmpty(), "the day is not divided");
  }

  private static void learnWhatIsDown(ApiClient client) throws ApiException {
    IncidentsApi incidents = new IncidentsApi(client);
    Incident incident = incidents.listIncidents(null, IncidentState.OPEN, null, null, null).getIncidents().get(0);
    check(incident.getError() == CheckError.UNEXPECTED_STATUS, "the incident says why");
    check(incident.getResolution() == null, "the incident goes on");

    UUID monitorId = incident.getMonitorId();
    List<Incident> all = incidents.listIncidents(monitorId, null, null, null, null).getIncidents();
    check(all.size() == 2, "another one was before");
    check(all.get(1).getResolution() == IncidentResolution.RECOVERED, "the other one is over");

    List<Check> checks = new ChecksApi(client).listChecks(monitorId, null, null, null, null, null).getChecks();
    check(checks.size() == 2, "there are two checks");
    check(checks.get(0).getError() == CheckError.UNEXPECTED_STATUS, "the last check failed");
    check(checks.get(1).getError() == null, "the one before did not");
  }

  private static void beToldOfIncidents(ApiClient client) throws ApiException, IOException {
    NotificationsApi notifications = new NotificationsApi(client);
    Set<NotificationEvent> opened = Set.of(NotificationEvent.INCIDENT_OPENED);
    WebhookChannelCreate wanted =
        new WebhookChannelCreate()
            .type(WebhookChannelCreate.TypeEnum.WEBHOOK)
            .url("https://pager.example.com/hooks")
            .events(opened);
    WebhookChannelCreated webhook =
        notifications.createNotificationChannel(new NotificationChannelCreate(wanted), null).getWebhookChannelCreated();
    check(webhook.getEvents().equals(opened), "the webhook is told what was asked for");
    check(webhook.getSecret().startsWith("whsec_"), "the secret is that of a webhook");

    UUID webhookId = webhook.getId();
    NotificationDelivery sent = notifications.testNotificationChannel(webhookId, null);
    check(sent.getEvent() == NotificationType.TEST, "the message is a test");
    List<NotificationDelivery> deliveries =
        notifications.listNotificationDeliveries(webhookId, null, null, null).getDeliveries();
    check(deliveries.size() == 1, "there is one delivery");
    check(deliveries.get(0).getId().equals(sent.getId()), "the message is among the deliveries");

    NotificationChannelUpdate off =
        new NotificationChannelUpdate(
            new WebhookChannelUpdate().type(WebhookChannelUpdate.TypeEnum.WEBHOOK).enabled(false));
    NotificationChannel disabled = notifications.updateNotificationChannel(webhookId, off, null, null);
    check(!disabled.getWebhookChannel().getEnabled(), "the webhook is off");
    String sentence = "Notification channel is disabled";
    ApiException refused = expect(409, sentence, () -> notifications.testNotificationChannel(webhookId, null));
    NotificationChannelSilentError error =
        client.getObjectMapper().readValue(refused.getResponseBody(), NotificationChannelSilentError.class);
    check(error.getError().equals(sentence), "the error has its type");

    notifications.deleteNotificationChannel(webhookId, null, null);
  }

  private static void followAnArticle() throws ApiException, InterruptedException {
    ApiClient client = newClient();
    client.setRequestInterceptor(request -> request.header("X-Webhook-Secret", System.getenv("WEBHOOK_SECRET")));
    ArticlesApi articles = new ArticlesApi(client);

    ArticleContent content =
        new ArticleContent().title("Shoes").content("# Fit first").format("markdown").slug("java");
    ArticleAccepted accepted = articles.deliverArticle(new ArticleSubmission().article(content), null);
    check(accepted.getStatus() == SubmissionStatus.ACCEPTED, "the article is accepted");

    Set<String> locales = Set.copyOf(accepted.getLocales());
    Instant deadline = Instant.now().plus(Duration.ofSeconds(60));
    while (Instant.now().isBefore(deadline)) {
      Article article = articles.getArticle(accepted.getArticleId(), null);
      List<Translation> translations = article.getTranslations();
      check(
          translations.stream().map(Translation::getLocale).collect(Collectors.toSet()).equals(locales),
          "every locale has its state");
      if (translations.stream().allMatch(each -> each.getStatus() == TranslationStatus.TRANSLATED)) {
        return;
      }
      Thread.sleep(50);
    }
    throw new AssertionError("the article was never translated");
  }

  private static ApiClient newClient() {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("BASE_URL"));
    return client;
  }

  private static ApiException expect(int status, String sentence, Call call) {
    try {
      call.send();
    } catch (ApiException error) {
      check(error.getCode() == status, "the status is " + status + ", not " + error.getCode());
      check(error.getResponseBody().contains(sentence), "it says: " + sentence);
      return error;
    }
    throw new AssertionError("no error: " + sentence);
  }

  private static void check(boolean holds, String promise) {
    if (!holds) {
      throw new AssertionError(promise);
    }
  }
}
