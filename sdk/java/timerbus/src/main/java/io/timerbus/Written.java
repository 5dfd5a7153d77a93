package io.timerbus;

/**
 * A timer or schedule after a write.
 *
 * @param value the timer or schedule
 * @param inTime false if a delivery by the earlier state may have been sent before the write
 */
public record Written<T>(T value, boolean inTime) {}
