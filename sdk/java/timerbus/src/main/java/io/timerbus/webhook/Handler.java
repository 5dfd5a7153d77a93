package io.timerbus.webhook;

/** Handles a delivery. If it throws, the attempt has failed and is repeated. */
@FunctionalInterface
public interface Handler {
  /** Returns a reply; null means {@link Reply#done}. */
  Reply handle(Delivery delivery) throws Exception;
}
