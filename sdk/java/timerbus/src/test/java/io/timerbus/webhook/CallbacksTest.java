package io.timerbus.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.standardwebhooks.Webhook;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Sends the callbacks of the conformance scripts to the receiver. */
class CallbacksTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Path FOLDER = Path.of("../../conformance");

  @TestFactory
  Stream<DynamicTest> callbacks() throws Exception {
    JsonNode callbacks = MAPPER.readTree(Files.readString(FOLDER.resolve("receivers/callbacks.json")));
    return StreamSupport.stream(callbacks.get("cases").spliterator(), false)
        .map(c -> DynamicTest.dynamicTest(c.get("name").asText(), () -> callback(callbacks, c)));
  }

  private static void callback(JsonNode callbacks, JsonNode c) throws Exception {
    List<Delivery> deliveries = new ArrayList<>();
    Deduplication deduplication = Deduplication.inMemory(10);
    Handler handler =
        delivery -> {
          deliveries.add(delivery);
          return replied(c.get("handler"));
        };
    Receiver receiver =
        c.has("unsigned")
            ? Receiver.unsigned(handler, deduplication)
            : Receiver.of(List.of(callbacks.get("secret").asText()), handler, deduplication);
    String body = c.path("rawBody").asText(callbacks.get("delivery").toString());
    long at = Instant.now().getEpochSecond() + c.path("skewSeconds").asLong();
    List<String> secrets =
        switch (c.path("signWith").asText()) {
          case "both" -> List.of("other", "secret");
          case "null" -> List.of();
          default -> List.of(c.get("signWith").asText());
        };
    Map<String, List<String>> headers = new HashMap<>();
    headers.put("Webhook-Id", List.of("id-1"));
    headers.put("Webhook-Timestamp", List.of(Long.toString(at)));
    if (!secrets.isEmpty()) {
      List<String> signatures = new ArrayList<>();
      for (String secret : secrets) {
        signatures.add(new Webhook(callbacks.get(secret).asText()).sign("id-1", at, body));
      }
      headers.put("Webhook-Signature", List.of(String.join(" ", signatures)));
    }
    if (c.has("withoutId")) {
      headers.remove("Webhook-Id");
    }
    if (c.has("tamper")) {
      body = body.replace("order-17", "order-18");
    }
    for (int i = 0; i < c.path("sent").asInt(1); i++) {
      Reply reply = receiver.receive(headers, body.getBytes(StandardCharsets.UTF_8));
      assertEquals(c.get("status").asInt(), reply.status());
      if (c.has("body")) {
        assertEquals(c.get("body"), MAPPER.readTree(reply.body()));
      }
      assertEquals(c.has("retryAfter") ? c.get("retryAfter").asText() : "null", String.valueOf(reply.retryAfter()));
    }
    assertEquals(c.get("handled").asInt(), deliveries.size());
    for (Delivery delivery : deliveries) {
      assertEquals(
          new Delivery(
              "id-1",
              "shop",
              "order-17 ä",
              "daily",
              Instant.parse("2026-01-01T00:00:00Z"),
              Instant.parse("2026-01-01T00:01:00.250Z"),
              2,
              "3706188562493276161",
              "c-1",
              MAPPER.readTree("{\"order\": 17, \"snake_case\": true}")),
          delivery);
    }
    String remembered = deduplication.find("id-1");
    assertEquals(c.path("body").path("ok").asBoolean() ? c.get("body") : null, remembered == null ? null : MAPPER.readTree(remembered));
  }

  private static Reply replied(JsonNode handler) {
    return switch (handler.path("reply").asText()) {
      case "" -> null;
      case "done" -> Reply.done();
      case "retry" -> handler.has("after") ? Reply.retry(io.timerbus.Wire.parseDuration(handler.get("after").asText())) : Reply.retry();
      case "reschedule" -> Reply.reschedule(Instant.parse(handler.get("at").asText()));
      case "stopSchedule" -> Reply.stopSchedule();
      default -> throw new IllegalStateException("as the case says");
    };
  }

  @Test
  void goldenSignatures() throws Exception {
    JsonNode vectors = MAPPER.readTree(Files.readString(FOLDER.resolve("../../schemas/testdata/signatures.json")));
    for (JsonNode vector : vectors) {
      for (JsonNode secret : vector.get("secrets")) {
        String signature =
            new Webhook(secret.asText())
                .sign(vector.get("webhook-id").asText(), vector.get("webhook-timestamp").asLong(), vector.get("body").asText());
        assertTrue(Arrays.asList(vector.get("webhook-signature").asText().split(" ")).contains(signature), vector.toString());
      }
    }
  }

  @Test
  void secretsAreRequired() {
    assertThrows(IllegalArgumentException.class, () -> Receiver.of(List.of(), d -> null, Deduplication.none()));
  }

  @Test
  void deduplicationForgetsTheOldest() {
    Deduplication memory = Deduplication.inMemory(2);
    List.of("a", "b", "c").forEach(id -> memory.remember(id, "reply to " + id));
    assertNull(memory.find("a"));
    assertEquals("reply to b", memory.find("b"));
    assertEquals("reply to c", memory.find("c"));
  }

  @Test
  void retriesAreRoundedUpToSeconds() {
    assertEquals(2, Reply.retry(Duration.ofMillis(1001)).retryAfter());
  }
}
