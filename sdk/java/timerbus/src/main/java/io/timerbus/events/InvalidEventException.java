package io.timerbus.events;

/** A message is not an event of Timerbus: it is no CloudEvent, or its data is not that of its type. */
public class InvalidEventException extends IllegalArgumentException {
  InvalidEventException(Exception cause) {
    super("the message is not an event of Timerbus: " + cause.getMessage(), cause);
  }
}
