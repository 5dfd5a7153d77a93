package io.timerbus.events;

import com.fasterxml.jackson.databind.JsonNode;
import io.timerbus.types.AttemptResult;
import io.timerbus.types.CommandAnswer;
import io.timerbus.types.DeadLetter;
import io.timerbus.types.EventType;
import io.timerbus.webhook.Delivery;
import java.time.Instant;
import java.util.Map;

/**
 * An event on a topic of Timerbus on NATS or Kafka. {@link NatsEvents} decodes the messages of jnats, {@link KafkaEvents} the records of
 * kafka-clients, and {@link #decode} the headers and the body of a message of another client.
 */
public sealed interface Event {
  /** Returns the attributes that all events have. */
  Attributes attributes();

  /** Returns the id. A repeated event has the same one. */
  default String id() {
    return attributes().id();
  }

  /**
   * Attributes of an event.
   *
   * @param id a repeated event has the same id
   * @param source the cluster that sent the event
   * @param type the type of the event
   * @param subject namespace/timerId, or namespace/scheduleId in the answer to a command for a schedule; null if it is absent
   * @param time when the event was made, or null
   * @param correlationId the correlation id of the timer, or null
   */
  record Attributes(String id, String source, EventType type, String subject, Instant time, String correlationId) {}

  /** A timer is due. The id is the webhookId of the delivery. */
  record Fired(Attributes attributes, Delivery data) implements Event {}

  /** An attempt has ended. */
  record Result(Attributes attributes, AttemptResult data) implements Event {}

  /** A timer is dead, or parked: the status of the data says which. */
  record Dead(Attributes attributes, DeadLetter data) implements Event {}

  /** A command was applied, or refused: then the data has an error. */
  record Answer(Attributes attributes, CommandAnswer data) implements Event {}

  /** An event with a type that this release does not know, with its JSON, which may be null. */
  record Unknown(Attributes attributes, JsonNode data) implements Event {}

  /**
   * Returns the event of a message in structured mode (NATS) or in binary mode (Kafka). Unknown attributes and fields are ignored.
   *
   * @param headers the headers of the message; names are case-insensitive
   * @param body the body of the message, or null
   * @throws InvalidEventException if the message is not an event of Timerbus
   */
  static Event decode(Map<String, String> headers, byte[] body) {
    return Decoder.decode(headers, body);
  }
}
