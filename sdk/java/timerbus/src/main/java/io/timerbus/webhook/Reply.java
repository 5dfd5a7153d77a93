package io.timerbus.webhook;

import io.timerbus.Wire;
import java.time.Duration;
import java.time.Instant;

/**
 * The answer to a callback.
 *
 * @param status the HTTP status
 * @param body the JSON of the body
 * @param retryAfter the seconds of the header Retry-After, or null
 * @param processed the delivery was processed: a repetition gets the same reply
 */
public record Reply(int status, String body, Long retryAfter, boolean processed) {
  /** The timer is done. A handler that returns null answers the same. */
  public static Reply done() {
    return new Reply(200, "{\"ok\":true}", null, true);
  }

  /** The attempt has failed, and is repeated by the timer's retry policy. */
  public static Reply retry() {
    return new Reply(200, "{\"ok\":false}", null, false);
  }

  /** The attempt has failed, and is repeated by the timer's retry policy, at the earliest after this time. */
  public static Reply retry(Duration after) {
    return new Reply(503, "{\"ok\":false}", after.plusNanos(999_999_999).toSeconds(), false);
  }

  /** The timer fires again at this time, as a new generation. The next occurrence of a schedule moves to this time. */
  public static Reply reschedule(Instant at) {
    return new Reply(200, "{\"ok\":true,\"nextExecuteAt\":\"" + Wire.format(at) + "\"}", null, true);
  }

  /** The timer is done, and its schedule ends. */
  public static Reply stopSchedule() {
    return new Reply(200, "{\"ok\":true,\"stopSchedule\":true}", null, true);
  }

  static Reply failed(int status, String error) {
    return new Reply(status, "{\"error\":\"" + error + "\"}", null, false);
  }
}
