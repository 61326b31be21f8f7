import com.example.monitoring.ApiClient;
import com.example.monitoring.ApiException;
import com.example.monitoring.api.MonitorsApi;
import com.example.monitoring.model.Monitor;
import com.example.monitoring.model.MonitorList;
import java.util.function.Consumer;

final class Pages {
  // <recipe>

  public static void main(String[] arguments) throws ApiException {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("BASE_URL"));
    client.setRequestInterceptor(
        request -> request.setHeader("Authorization", "Bearer " + System.getenv("TOKEN")));
    everyMonitor(new MonitorsApi(client), monitor -> System.out.println(monitor.getId()));
  }
}
