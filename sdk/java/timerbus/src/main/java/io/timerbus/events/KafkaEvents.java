package io.timerbus.events;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/** Decodes records of kafka-clients, which a program that uses this class has as a dependency. */
public final class KafkaEvents {
  private KafkaEvents() {}

  /**
   * Returns the event of a record, whose value a ByteArrayDeserializer has read.
   *
   * @throws InvalidEventException if the record is not an event of Timerbus
   */
  public static Event decode(ConsumerRecord<?, byte[]> record) {
    Map<String, String> headers = new HashMap<>();
    for (Header header : record.headers()) {
      headers.put(header.key(), header.value() == null ? "" : new String(header.value(), StandardCharsets.UTF_8));
    }
    return Event.decode(headers, record.value());
  }
}
