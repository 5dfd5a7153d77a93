package io.timerbus.events;

import io.nats.client.Message;
import java.util.HashMap;
import java.util.Map;

/** Decodes messages of jnats, which a program that uses this class has as a dependency. */
public final class NatsEvents {
  private NatsEvents() {}

  /**
   * Returns the event of a message.
   *
   * @throws InvalidEventException if the message is not an event of Timerbus
   */
  public static Event decode(Message message) {
    Map<String, String> headers = new HashMap<>();
    if (message.hasHeaders()) {
      message.getHeaders().forEach((name, values) -> headers.put(name, values.isEmpty() ? "" : values.get(0)));
    }
    return Event.decode(headers, message.getData());
  }
}
