import com.sun.net.httpserver.HttpServer;
import io.timerbus.Timerbus;
import io.timerbus.types.Timer;
import io.timerbus.webhook.Deduplication;
import io.timerbus.webhook.Receiver;
import io.timerbus.webhook.Reply;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

public class Reminder {
  public static void main(String[] args) throws Exception {
    CountDownLatch delivered = new CountDownLatch(1);
    Receiver receiver = Receiver.unsigned(delivery -> { // Receiver.of verifies signatures
      System.out.printf("reminder %s: %s%n", delivery.timerId(), delivery.payload().get("text").asText());
      delivered.countDown();
      return Reply.done();
    }, Deduplication.none());
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 9103), 0);
    server.createContext("/reminders", exchange -> {
      Reply reply = receiver.receive(exchange.getRequestHeaders(), exchange.getRequestBody().readAllBytes());
      exchange.sendResponseHeaders(reply.status(), reply.body().length());
      exchange.getResponseBody().write(reply.body().getBytes());
      exchange.close();
    });
    server.start();

    Timerbus bus = Timerbus.builder(System.getenv().getOrDefault("TIMERBUS_URL", "http://127.0.0.1:8080"))
        .token(System.getenv("TIMERBUS_TOKEN"))
        .build();
    Timer timer = bus.timers().create("tea", t -> t
        .executeIn(Duration.ofSeconds(1))
        .callbackUrl("http://127.0.0.1:9103/reminders")
        .payload(Map.of("text", "The tea is ready."))).value();
    System.out.printf("timer %s is %s%n", timer.id(), timer.status());
    delivered.await();
    server.stop(0);
  }
}
