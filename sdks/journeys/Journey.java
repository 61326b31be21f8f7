import com.example.monitoring.ApiClient;
import com.example.monitoring.ApiException;
import com.example.monitoring.ApiResponse;
import com.example.monitoring.api.ArticlesApi;
import com.example.monitoring.api.AuthApi;
import com.example.monitoring.api.MonitorsApi;
import com.example.monitoring.model.AccessToken;
import com.example.monitoring.model.Article;
import com.example.monitoring.model.ArticleAccepted;
import com.example.monitoring.model.ArticleContent;
import com.example.monitoring.model.ArticleDelivery;
import com.example.monitoring.model.DeliveryStatus;
import com.example.monitoring.model.Monitor;
import com.example.monitoring.model.MonitorCreate;
import com.example.monitoring.model.MonitorList;
import com.example.monitoring.model.MonitorStatus;
import com.example.monitoring.model.MonitorUpdate;
import com.example.monitoring.model.Translation;
import com.example.monitoring.model.TranslationStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** A monitor's life and an article's way, through openapi-generator's Java SDK. */
public final class Journey {
  private interface Call {
    void send() throws ApiException;
  }

  public static void main(String[] arguments) throws Exception {
    liveAMonitorsLife();
    followAnArticle();
  }

  private static void liveAMonitorsLife() throws ApiException {
    AccessToken token =
        new AuthApi(newClient())
            .issueToken("client_credentials", System.getenv("CLIENT_ID"), System.getenv("CLIENT_SECRET"), null);
    ApiClient client = newClient();
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token.getAccessToken()));
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

    ApiResponse<Monitor> first = monitors.getMonitorWithHttpInfo(ids.get(0));
    String etag = first.getHeaders().get("etag").get(0);
    Monitor changed = monitors.updateMonitor(ids.get(0), new MonitorUpdate().intervalSeconds(600), null, etag);
    check(changed.getIntervalSeconds() == 600, "the change is made");
    check(changed.getTags().equals(first.getData().getTags()), "what is left out stays");
    expect(412, "Monitor has changed", () -> monitors.deleteMonitor(ids.get(0), null, etag));

    List<UUID> newestFirst = new ArrayList<>(ids);
    Collections.reverse(newestFirst);
    check(listIds(monitors).equals(newestFirst), "the pages hold every monitor");

    for (UUID id : ids) {
      monitors.deleteMonitor(id, null, null);
    }
    expect(404, "Monitor not found", () -> monitors.getMonitor(ids.get(0)));
  }

  private static List<UUID> listIds(MonitorsApi monitors) throws ApiException {
    List<UUID> ids = new ArrayList<>();
    String cursor = null;
    do {
      MonitorList page = monitors.listMonitors(2, cursor, null, null, null, null);
      page.getMonitors().forEach(monitor -> ids.add(monitor.getId()));
      cursor = page.getNextCursor();
    } while (cursor != null);
    return ids;
  }

  private static void followAnArticle() throws ApiException, InterruptedException {
    ApiClient client = newClient();
    client.setRequestInterceptor(request -> request.header("X-Webhook-Secret", System.getenv("WEBHOOK_SECRET")));
    ArticlesApi articles = new ArticlesApi(client);

    ArticleContent content =
        new ArticleContent().title("Shoes").content("# Fit first").format("markdown").slug("java");
    ArticleAccepted accepted = articles.deliverArticle(new ArticleDelivery().article(content));
    check(accepted.getStatus() == DeliveryStatus.ACCEPTED, "the article is accepted");

    Set<String> locales = Set.copyOf(accepted.getLocales());
    Instant deadline = Instant.now().plus(Duration.ofSeconds(60));
    while (Instant.now().isBefore(deadline)) {
      Article article = articles.getArticle(accepted.getArticleId());
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

  private static void expect(int status, String sentence, Call call) {
    try {
      call.send();
    } catch (ApiException error) {
      check(error.getCode() == status, "the status is " + status + ", not " + error.getCode());
      check(error.getResponseBody().contains(sentence), "it says: " + sentence);
      return;
    }
    throw new AssertionError("no error: " + sentence);
  }

  private static void check(boolean holds, String promise) {
    if (!holds) {
      throw new AssertionError(promise);
    }
  }
}
