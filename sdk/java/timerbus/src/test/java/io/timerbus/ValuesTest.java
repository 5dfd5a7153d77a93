package io.timerbus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.timerbus.testing.TestService;
import io.timerbus.types.CreateTimerRequest;
import io.timerbus.types.SecretsInput;
import io.timerbus.types.Status;
import io.timerbus.types.UpdateTimerRequest;
import io.timerbus.webhook.Delivery;
import io.timerbus.webhook.Receiver;
import io.timerbus.webhook.Reply;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ValuesTest {
  @ParameterizedTest
  @CsvSource({"0s, PT0S", "250ms, PT0.25S", "1h30m0s, PT1H30M", "1d12h, PT36H", "1.5s, PT1.5S", "-1h, PT-1H", "87600h, PT87600H"})
  void durations(String text, Duration duration) {
    assertEquals(duration, Wire.parseDuration(text));
    assertEquals(duration, Wire.parseDuration(Wire.encode(duration).asText()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "h", "1 h", "1h-", "P1D"})
  void otherTextsAreNoDurations(String text) {
    assertThrows(IllegalArgumentException.class, () -> Wire.parseDuration(text));
  }

  @Test
  void requestsAreEncodedByTheirTypes() {
    CreateTimerRequest request =
        CreateTimerRequest.builder()
            .id("a")
            .executeAt(Instant.parse("2030-01-31T09:00:00.000999Z"))
            .executeAtLocal(LocalDateTime.of(2030, 3, 31, 9, 0))
            .retryPolicy(r -> r.maxAttempts(3L).maxInterval(Duration.ofMinutes(1)))
            .payload(Map.of("order", 17))
            .build();
    assertEquals(
        "{\"id\":\"a\",\"executeAt\":\"2030-01-31T09:00:00.000Z\",\"executeAtLocal\":\"2030-03-31T09:00:00\","
            + "\"retryPolicy\":{\"maxAttempts\":3,\"maxInterval\":\"60000ms\"},\"payload\":{\"order\":17}}",
        Wire.encode(request).toString());
    assertEquals("{\"payload\":null}", Wire.encode(UpdateTimerRequest.of(b -> b.payload(null))).toString());
  }

  @Test
  void enumerationsAreOpen() {
    assertTrue(new Status("done").isKnown());
    assertEquals(Status.DONE, new Status("done"));
    assertFalse(new Status("dreaming").isKnown());
  }

  @Test
  void baseUrlIsChecked() {
    assertThrows(IllegalArgumentException.class, () -> Timerbus.of("localhost:8080"));
  }

  @Test
  void aSignedCallbackArrives() throws Exception {
    String secret = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
    LinkedBlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();
    Receiver receiver =
        Receiver.of(
            secret,
            delivery -> {
              deliveries.add(delivery);
              return Reply.done();
            });
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/timers",
        exchange -> {
          Reply reply = receiver.receive(exchange.getRequestHeaders(), exchange.getRequestBody().readAllBytes());
          byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(reply.status(), body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try (TestService service = TestService.start("--secret-key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")) {
      Timerbus bus = Timerbus.of(service.url());
      bus.namespaces().update("default", s -> s.secrets(SecretsInput.of(i -> i.set(secret))));
      String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/timers";
      bus.timers().create("hello", t -> t.executeIn(Duration.ofMillis(50)).callbackUrl(url).payload(Map.of("n", 1)));
      Delivery delivery = deliveries.poll(30, TimeUnit.SECONDS);
      assertNotNull(delivery, "no delivery within 30 s");
      assertEquals("hello", delivery.timerId());
      assertEquals(Map.of("n", 1), delivery.payload(Map.class));
      while (!bus.timers().get("hello").status().equals(Status.DONE)) {
        Thread.sleep(10);
      }
    } finally {
      server.stop(0);
    }
  }
}
