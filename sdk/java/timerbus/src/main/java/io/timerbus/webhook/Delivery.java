package io.timerbus.webhook;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.timerbus.Wire;
import java.time.Instant;

/**
 * A timer that is due: the body of a callback, and the data of a fired event.
 *
 * @param webhookId identifies the delivery: every repetition has the same one
 * @param namespace the timer's namespace
 * @param timerId the timer's id
 * @param scheduleId the schedule of which the timer is an occurrence, or null
 * @param executeAt the planned time of the timer
 * @param scheduledFor when this attempt was due: executeAt, or later for a retry
 * @param attempt the number of this attempt, from 1
 * @param generation the timer's generation
 * @param correlationId the timer's correlation id
 * @param payload the timer's payload, or null
 */
public record Delivery(
    String webhookId,
    String namespace,
    String timerId,
    String scheduleId,
    Instant executeAt,
    Instant scheduledFor,
    long attempt,
    String generation,
    String correlationId,
    JsonNode payload) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** Parses the JSON of a delivery. Unknown fields are ignored. */
  public static Delivery parse(String webhookId, String json) {
    JsonNode data;
    try {
      data = MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("it is not JSON", e);
    }
    return from(webhookId, data);
  }

  /** Reads the JSON of a delivery. Unknown fields are ignored. */
  public static Delivery from(String webhookId, JsonNode data) {
    return new Delivery(
        webhookId,
        text(data, "namespace"),
        text(data, "timerId"),
        Wire.text(data.get("scheduleId")),
        Instant.parse(text(data, "executeAt")),
        Instant.parse(text(data, "scheduledFor")),
        data.path("attempt").asLong(),
        text(data, "generation"),
        text(data, "correlationId"),
        Wire.any(data.get("payload")));
  }

  private static String text(JsonNode data, String name) {
    if (!data.path(name).isTextual()) {
      throw new IllegalArgumentException(name + " is not a string");
    }
    return data.get(name).asText();
  }

  /** Returns the payload as an object of this class. */
  public <T> T payload(Class<T> type) {
    return MAPPER.convertValue(payload, type);
  }
}
