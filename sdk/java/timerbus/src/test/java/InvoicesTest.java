import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.timerbus.Timerbus;
import io.timerbus.testing.TestService;
import io.timerbus.types.Status;
import io.timerbus.webhook.Deduplication;
import io.timerbus.webhook.Receiver;
import io.timerbus.webhook.Reply;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Plays 30 days of examples/Invoices.java with the test clock. */
class InvoicesTest {
  @Test
  void remindersOf30Days() throws Exception {
    Queue<String> sent = new ConcurrentLinkedQueue<>();
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    try (TestService service = TestService.start()) {
      Timerbus bus = Timerbus.of(service.url());
      Instant start = bus.clock().get().now();
      Invoices invoices =
          new Invoices(
              bus,
              "http://127.0.0.1:" + server.getAddress().getPort() + "/due",
              (invoice, number, at) -> sent.add(invoice + " " + number + ": day " + Duration.between(start, at).toDays()));
      Receiver receiver = Receiver.unsigned(invoices, Deduplication.inMemory(100));
      server.createContext(
          "/due",
          exchange -> {
            Reply reply = receiver.receive(exchange.getRequestHeaders(), exchange.getRequestBody().readAllBytes());
            byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(reply.status(), body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
      server.start();
      invoices.issued("paid");
      invoices.issued("unpaid");
      Instant begin = Instant.now();
      service.advance(Duration.ofDays(15));
      invoices.paid("paid");
      service.advance("15d");
      Duration took = Duration.between(begin, Instant.now());
      System.out.printf("30 days took %.2f s%n", took.toMillis() / 1000.0);
      assertEquals(List.of("paid 1: day 10", "unpaid 1: day 10", "unpaid 2: day 20", "unpaid 3: day 30"), sent.stream().sorted().toList());
      assertEquals(Status.DONE, bus.timers().get("unpaid").status());
      assertTrue(took.compareTo(Duration.ofSeconds(10)) < 0, "30 days took " + took);
    } finally {
      server.stop(0);
    }
  }
}
