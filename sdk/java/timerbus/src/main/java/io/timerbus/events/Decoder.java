package io.timerbus.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.timerbus.types.AttemptResult;
import io.timerbus.types.CommandAnswer;
import io.timerbus.types.DeadLetter;
import io.timerbus.types.EventType;
import io.timerbus.webhook.Delivery;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Decodes CloudEvents in both modes. */
final class Decoder {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String WHOLE = "application/cloudevents";
  private static final Set<String> STRUCTURED = Set.of(WHOLE, WHOLE + "+json");

  private Decoder() {}

  static Event decode(Map<String, String> headers, byte[] body) {
    try {
      return event(headers, body == null ? new byte[0] : body);
    } catch (IOException | DateTimeException | IllegalArgumentException e) {
      throw new InvalidEventException(e);
    }
  }

  private static Event event(Map<String, String> headers, byte[] body) throws IOException {
    Map<String, JsonNode> attributes = new HashMap<>();
    String contentType = read(headers, attributes);
    String mediaType = contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    JsonNode parsed = MAPPER.readTree(body);
    // The content type decides the mode. Without one, headers with the required attributes select binary mode.
    boolean whole = mediaType.startsWith(WHOLE);
    if (whole && !STRUCTURED.contains(mediaType)) {
      throw new IllegalArgumentException(
          "content-type: \"" + contentType + "\" is not accepted: want application/cloudevents+json or application/json");
    }
    if (!whole && attributes.containsKey("specversion") && attributes.containsKey("type")) {
      return typed(attributes, parsed);
    }
    if (!parsed.isObject()) {
      throw new IllegalArgumentException("the body is not a JSON object");
    }
    if (parsed.has("data_base64")) {
      throw new IllegalArgumentException("data_base64 is not accepted: want JSON in data");
    }
    attributes.clear();
    parsed.properties().forEach(one -> attributes.put(one.getKey(), one.getValue()));
    return typed(attributes, parsed.get("data"));
  }

  /** Reads the attributes in the headers, and returns the content type. */
  private static String read(Map<String, String> headers, Map<String, JsonNode> attributes) {
    String contentType = "";
    for (Map.Entry<String, String> header : headers.entrySet()) {
      String name = header.getKey().toLowerCase(Locale.ROOT);
      if (name.equals("content-type")) {
        contentType = header.getValue();
      } else if (name.startsWith("ce_")) {
        attributes.put(name.substring(3), MAPPER.getNodeFactory().textNode(header.getValue()));
      } else if (name.startsWith("ce-")) {
        attributes.put(name.substring(3), MAPPER.getNodeFactory().textNode(percentDecoded(header.getValue()))); // on NATS
      }
    }
    return contentType;
  }

  private static String percentDecoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8); // a form, in which "+" is a space
    } catch (IllegalArgumentException e) {
      return text;
    }
  }

  private static Event typed(Map<String, JsonNode> attributes, JsonNode data) {
    JsonNode version = attributes.get("specversion");
    if (version == null || !version.asText().equals("1.0")) {
      throw new IllegalArgumentException("specversion: " + version + " is not accepted: want \"1.0\"");
    }
    EventType type = new EventType(text(attributes, "type"));
    String time = optional(attributes, "time");
    Event.Attributes common =
        new Event.Attributes(
            text(attributes, "id"), text(attributes, "source"), type, optional(attributes, "subject"),
            time == null ? null : instant(time), optional(attributes, "correlationid"));
    if (!type.isKnown()) {
      return new Event.Unknown(common, data);
    }
    if (data == null || !data.isObject()) {
      throw new IllegalArgumentException("data is not a JSON object");
    }
    if (type.equals(EventType.TIMER_FIRED)) {
      return new Event.Fired(common, Delivery.from(common.id(), data));
    }
    if (type.equals(EventType.TIMER_RESULT)) {
      return new Event.Result(common, AttemptResult.from(data));
    }
    if (type.equals(EventType.TIMER_DEAD) || type.equals(EventType.TIMER_PARKED)) {
      return new Event.Dead(common, DeadLetter.from(data));
    }
    if (type.equals(EventType.COMMAND_APPLIED) || type.equals(EventType.COMMAND_REFUSED)) {
      return new Event.Answer(common, CommandAnswer.from(data));
    }
    return new Event.Unknown(common, data);
  }

  private static String text(Map<String, JsonNode> attributes, String name) {
    JsonNode value = attributes.get(name);
    if (value == null || !value.isTextual() || value.asText().isEmpty()) {
      throw new IllegalArgumentException(name + ": " + value + " is not accepted: want a string that is not empty");
    }
    return value.asText();
  }

  private static String optional(Map<String, JsonNode> attributes, String name) {
    JsonNode value = attributes.get(name);
    return value == null || value.isNull() ? null : text(attributes, name);
  }

  private static Instant instant(String text) {
    return OffsetDateTime.parse(text).toInstant();
  }
}
