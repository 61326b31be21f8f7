import com.example.monitoring.ApiClient;
import com.example.monitoring.ApiException;
import com.example.monitoring.api.AuthApi;
import com.example.monitoring.api.ChecksApi;
import com.example.monitoring.api.IncidentsApi;
import com.example.monitoring.api.MonitorsApi;
import com.example.monitoring.model.AccessToken;
import com.example.monitoring.model.Incident;
import com.example.monitoring.model.IncidentList;
import com.example.monitoring.model.IncidentState;
import com.example.monitoring.model.Monitor;
import com.example.monitoring.model.MonitorCreate;
import com.example.monitoring.model.MonitorList;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Creates a monitor and shows the state of all, with a token that stays fresh and retries that never act twice.
 *
 * <p>How to generate the SDK and run this: docs/guides/generate-an-sdk.md. BASE_URL, CLIENT_ID and CLIENT_SECRET come
 * from the environment.
 */
public final class Monitors {
  private static final int ATTEMPTS = 6;
  private static final Duration RENEW_EARLY = Duration.ofMinutes(5);

  private final AuthApi auth = new AuthApi(newClient());
  private final MonitorsApi monitors;
  private final ChecksApi checks;
  private final IncidentsApi incidents;
  private String token;
  private long renewAtNanos;

  /** A call of the SDK that may be made several times. */
  private interface Call<T> {
    T send() throws ApiException;
  }

  public static void main(String[] arguments) throws ApiException, InterruptedException {
    new Monitors().run();
  }

  private Monitors() {
    ApiClient client = newClient();
    client.setRequestInterceptor(request -> request.setHeader("Authorization", "Bearer " + token));
    monitors = new MonitorsApi(client);
    checks = new ChecksApi(client);
    incidents = new IncidentsApi(client);
  }

  private void run() throws ApiException, InterruptedException {
    MonitorCreate wanted = new MonitorCreate().url("https://shop.example.com/health").intervalSeconds(60);
    // One key per write, not per attempt: it lets the service recognise a repetition.
    String idempotencyKey = UUID.randomUUID().toString();
    Monitor created = callWithToken(() -> monitors.createMonitor(wanted, idempotencyKey));

    String cursor = null;
    do {
      String from = cursor;
      MonitorList page = callWithToken(() -> monitors.listMonitors(null, from, null, null, null, null, null, null));
      for (Monitor monitor : page.getMonitors()) {
        System.out.println(monitor.getStatus() + " " + monitor.getName() + " " + monitor.getUrl());
      }
      cursor = page.getNextCursor();
    } while (cursor != null);

    Double ratio = callWithToken(() -> checks.getUptime(created.getId(), null, null, null)).getUptimeRatio();
    String uptime = ratio == null ? "not known yet" : String.format(Locale.ROOT, "%.3f%%", ratio * 100);
    System.out.println("uptime of 30 days: " + uptime);
    IncidentList open = callWithToken(() -> incidents.listIncidents(null, IncidentState.OPEN, null, null, null));
    for (Incident incident : open.getIncidents()) { // the newest 50
      System.out.println("down: " + incident.getErrorMessage());
    }
  }

  /** Calls with a token, and gets a new one if there is none, or if it expires soon or is refused. */
  private <T> T callWithToken(Call<T> call) throws ApiException, InterruptedException {
    if (token == null || System.nanoTime() - renewAtNanos >= 0) {
      renewToken();
    }
    try {
      return callPatiently(call);
    } catch (ApiException error) {
      if (error.getCode() != 401) {
        throw error;
      }
      renewToken();
      return callPatiently(call);
    }
  }

  private void renewToken() throws ApiException, InterruptedException {
    String id = System.getenv("CLIENT_ID");
    String secret = System.getenv("CLIENT_SECRET");
    AccessToken issued = callPatiently(() -> auth.issueToken("client_credentials", id, secret, null));
    token = issued.getAccessToken();
    Duration lifetime = Duration.ofSeconds(issued.getExpiresIn()).minus(RENEW_EARLY);
    renewAtNanos = System.nanoTime() + lifetime.toNanos();
  }

  /** Calls again after 429, 5xx and a broken connection: when the service says, else with growing pauses. */
  private static <T> T callPatiently(Call<T> call) throws ApiException, InterruptedException {
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
      try {
        return call.send();
      } catch (ApiException error) {
        boolean isTransient = error.getCode() == 429 || error.getCode() >= 500 || error.getCause() instanceof IOException;
        if (!isTransient) {
          throw error;
        }
        Thread.sleep(pauseMillis(attempt, error));
      }
    }
    return call.send();
  }

  /** At least Retry-After, and different for clients that failed together. */
  private static long pauseMillis(int attempt, ApiException error) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    Optional<String> retryAfter =
        Optional.ofNullable(error.getResponseHeaders()).flatMap(headers -> headers.firstValue("Retry-After"));
    if (retryAfter.isPresent() || error.getCode() == 429) {
      return Long.parseLong(retryAfter.orElse("60")) * 1000 + random.nextLong(500);
    }
    return (1000L << (attempt - 1)) / 2 + random.nextLong(500L << (attempt - 1));
  }

  private static ApiClient newClient() {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("BASE_URL"));
    client.setReadTimeout(Duration.ofSeconds(30));
    return client;
  }
}
