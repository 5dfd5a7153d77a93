package io.timerbus.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import io.timerbus.Scripts;
import io.timerbus.Timerbus;
import io.timerbus.testing.TestService;
import io.timerbus.types.CommandVerb;
import io.timerbus.types.ErrorCode;
import io.timerbus.types.EventType;
import io.timerbus.types.Outcome;
import io.timerbus.types.RetryPolicyInput;
import io.timerbus.types.Status;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Golden messages of schemas/testdata, which the encoder of the service must produce, and events of the real service over NATS. */
class EventsTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Set<String> TYPES =
      Set.of(
          "timerbus.timer.fired", "timerbus.timer.result", "timerbus.timer.dead", "timerbus.timer.parked", "timerbus.command.applied",
          "timerbus.command.refused");

  /** Returns the golden messages of the topics that Timerbus publishes to. Tests run in sdk/java/timerbus. */
  static Map<String, JsonNode> golden() throws IOException {
    Map<String, JsonNode> all = new TreeMap<>();
    try (Stream<Path> files = Files.list(Path.of("../../../schemas/testdata"))) {
      for (Path file : files.toList()) {
        JsonNode vector = MAPPER.readTree(file.toFile());
        if (TYPES.contains(vector.path("event").path("type").asText())) {
          all.put(file.getFileName().toString().replace(".json", ""), vector);
        }
      }
    }
    return all;
  }

  static Set<String> names() throws IOException {
    return golden().keySet();
  }

  private static Map<String, String> headers(JsonNode layout) {
    Map<String, String> headers = new HashMap<>();
    layout.get("headers").properties().forEach(one -> headers.put(one.getKey(), one.getValue().asText()));
    return headers;
  }

  private static byte[] body(JsonNode layout) {
    return layout.get("body").asText().getBytes(StandardCharsets.UTF_8);
  }

  private static Event decoded(JsonNode layout) {
    return Event.decode(headers(layout), body(layout));
  }

  private static String textOrNull(JsonNode node) {
    return node == null ? null : node.asText();
  }

  private static Object data(Event event) {
    if (event instanceof Event.Fired fired) {
      return fired.data();
    } else if (event instanceof Event.Result result) {
      return result.data();
    } else if (event instanceof Event.Dead dead) {
      return dead.data();
    }
    return assertInstanceOf(Event.Answer.class, event).data();
  }

  @Test
  void thereIsAGoldenMessageOfEachType() throws Exception {
    Set<String> types = new HashSet<>();
    golden().values().forEach(vector -> types.add(vector.get("event").get("type").asText()));
    assertEquals(TYPES, types);
    types.forEach(type -> assertTrue(new EventType(type).isKnown(), type));
  }

  @ParameterizedTest
  @MethodSource("names")
  void goldenMessages(String name) throws Exception {
    JsonNode vector = golden().get(name);
    JsonNode want = vector.get("event");
    Event event = decoded(vector.get("structured"));
    assertEquals(event, decoded(vector.get("binary")));
    assertEquals(
        new Event.Attributes(
            want.get("id").asText(), want.get("source").asText(), new EventType(want.get("type").asText()), textOrNull(want.get("subject")),
            Instant.parse(want.get("time").asText()), textOrNull(want.get("correlationid"))),
        event.attributes());
    Scripts.check(want.get("data"), Scripts.described(data(event)), name);
    if (event instanceof Event.Fired fired) {
      assertEquals(event.id(), fired.data().webhookId());
    }
  }

  @Test
  void typesOfData() throws Exception {
    Event.Dead dead = assertInstanceOf(Event.Dead.class, decoded(golden().get("dead-bytes").get("binary")));
    assertEquals(Status.DEAD, dead.data().status());
    assertEquals(Duration.ofSeconds(30), dead.data().retryPolicy().initialInterval());
    assertEquals("AP8=", dead.data().request().bodyBase64());
    Event.Answer refused = assertInstanceOf(Event.Answer.class, decoded(golden().get("refused").get("structured")));
    assertEquals(ErrorCode.TIMER_NOT_FOUND, refused.data().error());
    assertEquals(CommandVerb.UPDATE, refused.data().verb());
  }

  @Test
  void messagesOfTheUsualClients() throws Exception {
    JsonNode vector = golden().get("fired-plain");
    Event want = decoded(vector.get("structured"));
    Headers natsHeaders = new Headers();
    headers(vector.get("structured")).forEach(natsHeaders::add);
    Message message = NatsMessage.builder().subject("timerbus.fired.0").headers(natsHeaders).data(body(vector.get("structured"))).build();
    assertEquals(want, NatsEvents.decode(message));
    assertEquals(want, NatsEvents.decode(NatsMessage.builder().subject("timerbus.fired.0").data(body(vector.get("structured"))).build()));
    ConsumerRecord<String, byte[]> record = new ConsumerRecord<>("timerbus.fired", 0, 0, null, body(vector.get("binary")));
    headers(vector.get("binary")).forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
    record.headers().add("empty", null);
    assertEquals(want, KafkaEvents.decode(record));
  }

  @Test
  void theContentTypeDecidesTheMode() throws Exception {
    JsonNode vector = golden().get("fired");
    Map<String, String> attributes = headers(vector.get("structured"));
    attributes.remove("content-type");
    // Without a content type the attributes of NATS, which are percent-encoded, select binary mode.
    Event binary = Event.decode(attributes, body(vector.get("binary")));
    assertEquals("default/Bestellung 17/ä <%>", binary.attributes().subject());
    assertEquals(binary, Event.decode(Map.of(), body(vector.get("structured"))));
    Map<String, String> upper = new HashMap<>();
    headers(vector.get("binary")).forEach((name, value) -> upper.put(name.toUpperCase(Locale.ROOT), value));
    assertEquals(binary, Event.decode(upper, body(vector.get("binary"))));
    attributes.put("ce-subject", "a+b%20c");
    assertEquals("a+b c", Event.decode(attributes, body(vector.get("binary"))).attributes().subject());
  }

  /** Returns a golden event with another field; null removes the field. */
  private static byte[] changed(String name, String field, String json) {
    try {
      ObjectNode event = golden().get(name).get("event").deepCopy();
      if (json == null) {
        event.remove(field);
      } else {
        event.set(field, MAPPER.readTree(json));
      }
      return MAPPER.writeValueAsBytes(event);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void valuesOfLaterReleasesAreKept() throws Exception {
    Event.Unknown later =
        assertInstanceOf(Event.Unknown.class, Event.decode(Map.of(), changed("fired-plain", "type", "\"timerbus.timer.snoozed\"")));
    assertFalse(later.attributes().type().isKnown());
    assertEquals(golden().get("fired-plain").get("event").get("data"), later.data());
    ObjectNode data = golden().get("result-done").get("event").get("data").deepCopy();
    data.put("outcome", "postponed").put("more", 1);
    Event.Result result = assertInstanceOf(Event.Result.class, Event.decode(Map.of(), changed("result-done", "data", data.toString())));
    assertEquals(new Outcome("postponed"), result.data().outcome());
    assertFalse(result.data().outcome().isKnown());
  }

  static Stream<Arguments> others() {
    return Stream.of(
        Arguments.of(null, "the body is not a JSON object"),
        Arguments.of(new byte[] {(byte) 0xff}, "Unrecognized token"),
        Arguments.of("[]".getBytes(StandardCharsets.UTF_8), "the body is not a JSON object"),
        Arguments.of(changed("fired", "specversion", "\"0.3\""), "specversion: \"0.3\" is not accepted: want \"1.0\""),
        Arguments.of(changed("fired", "id", "\"\""), "id: \"\" is not accepted: want a string that is not empty"),
        Arguments.of(changed("fired", "source", "7"), "source: 7 is not accepted"),
        Arguments.of(changed("fired", "type", null), "type: null is not accepted"),
        Arguments.of(changed("fired", "time", "\"yesterday\""), "yesterday"),
        Arguments.of(changed("fired", "data_base64", "\"AA==\""), "data_base64 is not accepted: want JSON in data"),
        Arguments.of(changed("fired", "data", null), "data is not a JSON object"),
        Arguments.of(changed("fired", "data", "{\"namespace\":\"default\"}"), "timerId is not a string"),
        Arguments.of(changed("fired", "type", "\"timerbus.timer.result\""), "outcome is absent"));
  }

  @ParameterizedTest
  @MethodSource("others")
  void otherMessagesAreRefused(byte[] body, String want) {
    InvalidEventException refused = assertThrows(InvalidEventException.class, () -> Event.decode(Map.of(), body));
    assertTrue(refused.getMessage().startsWith("the message is not an event of Timerbus: "), refused.getMessage());
    assertTrue(refused.getMessage().contains(want), refused.getMessage());
  }

  @Test
  void batchesAreRefused() {
    Map<String, String> headers = Map.of("content-type", "application/cloudevents-batch+json");
    InvalidEventException refused =
        assertThrows(InvalidEventException.class, () -> Event.decode(headers, "[]".getBytes(StandardCharsets.UTF_8)));
    assertTrue(refused.getMessage().contains("want application/cloudevents"), refused.getMessage());
  }

  private static void create(JetStream stream, String id, String data) throws Exception {
    String command = "{\"specversion\":\"1.0\",\"id\":\"%s\",\"source\":\"tests\",\"type\":\"timerbus.timer.create\",\"data\":%s}";
    stream.publish("timerbus.commands", command.formatted(id, data).getBytes(StandardCharsets.UTF_8));
  }

  private static <T extends Event> T next(Class<T> type, JetStreamSubscription topic) throws Exception {
    Message message = topic.nextMessage(Duration.ofSeconds(30));
    assertTrue(message != null, "there is no event after 30 s");
    return assertInstanceOf(type, NatsEvents.decode(message));
  }

  @Test
  void eventsOfTheServiceArriveOverNats() throws Exception {
    try (TestService service = TestService.start("--nats-listen", "127.0.0.1:0")) {
      Connection connection = Nats.connect(service.natsUrl());
      JetStream stream = connection.jetStream();
      JetStreamSubscription fired = stream.subscribe("timerbus.fired.>");
      JetStreamSubscription results = stream.subscribe("timerbus.results.>");
      JetStreamSubscription dead = stream.subscribe("timerbus.dead.>");
      create(stream, "c-1", "{\"id\":\"order-17\",\"executeIn\":\"1h\",\"correlationId\":\"trace-1\",\"payload\":{\"order\":17}}");
      create(stream, "c-2", "{\"id\":\"order-18\",\"executeIn\":\"soon\"}");
      Event.Answer applied = next(Event.Answer.class, results);
      assertEquals(EventType.COMMAND_APPLIED, applied.attributes().type());
      assertEquals("c-1", applied.data().commandId());
      assertEquals(17, applied.data().timer().payload().get("order").asInt());
      Event.Answer refused = next(Event.Answer.class, dead);
      assertEquals(EventType.COMMAND_REFUSED, refused.attributes().type());
      assertEquals(ErrorCode.INVALID_INPUT, refused.data().error());
      Timerbus.of(service.url())
          .timers()
          .create(
              "order-19",
              t ->
                  t.executeIn(Duration.ofHours(2))
                      .callbackUrl("http://127.0.0.1:1/")
                      .retryPolicy(RetryPolicyInput.of(p -> p.maxAttempts(1L))));
      service.advance("3h");
      Event.Fired due = next(Event.Fired.class, fired);
      assertEquals("trace-1", due.attributes().correlationId());
      assertEquals(due.id(), due.data().webhookId());
      assertEquals(applied.data().timer().executeAt(), due.data().executeAt());
      assertEquals(17, due.data().payload().get("order").asInt());
      assertEquals(Outcome.DONE, next(Event.Result.class, results).data().outcome());
      assertEquals(Outcome.DEAD, next(Event.Result.class, results).data().outcome());
      Event.Dead gone = next(Event.Dead.class, dead);
      assertEquals("order-19", gone.data().timerId());
      assertEquals(1, gone.data().retryPolicy().maxAttempts());
      connection.close();
    }
  }

  @Test
  void theExamplePrintsDueOrders() throws Exception {
    try (TestService service = TestService.start("--nats-listen", "127.0.0.1:0")) {
      Timerbus.of(service.url()).timers().create("order-17", t -> t.executeIn(Duration.ofHours(1)).payload(Map.of("order", 17)));
      service.advance("1h");
      ProcessBuilder builder =
          new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", System.getProperty("java.class.path"), "DueOrders");
      builder.environment().put("NATS_URL", service.natsUrl());
      Process example = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
      try (BufferedReader lines = example.inputReader()) {
        assertEquals("order-17 is due: {\"order\":17}", lines.readLine());
      } finally {
        example.destroyForcibly();
      }
    }
  }
}
