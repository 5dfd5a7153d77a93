package io.timerbus;

import io.timerbus.types.AdvanceClockRequest;
import io.timerbus.types.SetClockRequest;
import io.timerbus.types.TestClock;
import java.time.Duration;
import java.time.Instant;

/**
 * The test clock of {@code timerbus dev --test-clock}. A service without one answers NOT_FOUND (404).
 *
 * <p>A move waits until no timer is due, moves the clock to the next due time, or to the target if that is earlier, and repeats this
 * until the clock has reached the target and no timer is due. If another call is moving the clock, the error has the code CLOCK_BUSY
 * (409). After the timeout of the request, by default 60 s, it has the code CLOCK_NOT_QUIET (504): then the clock has moved, and set
 * with the target of the details continues. Each try of a move waits 10 s longer than that for the answer.
 */
public final class Clock {
  /** The timeout of a move whose request has none. */
  private static final Duration MOVE_TIMEOUT = Duration.ofSeconds(60);

  private static final Duration MOVE_ANSWER = Duration.ofSeconds(10);

  private final Calls calls;

  Clock(Calls calls) {
    this.calls = calls;
  }

  /** Moves the clock forward by a duration. It is not repeated after a broken connection, because the clock would move twice. */
  public TestClock advance(AdvanceClockRequest request) {
    return move("clock/advance", request, request.timeout());
  }

  /** Moves the clock forward by a duration. */
  public TestClock advance(Duration by) {
    return advance(AdvanceClockRequest.of(b -> b.by(by)));
  }

  /** Moves the clock forward to a time. It does not move back. It is not repeated after a broken connection. */
  public TestClock set(SetClockRequest request) {
    return move("clock/set", request, request.timeout());
  }

  /** Moves the clock forward to a time. */
  public TestClock set(Instant time) {
    return set(SetClockRequest.of(b -> b.time(time)));
  }

  /** Returns what the clock shows, and when the next timer is due. */
  public TestClock get() {
    return TestClock.from(calls.send("clock/get", Wire.MAPPER.createObjectNode(), true).json());
  }

  private TestClock move(String path, Fields request, Duration timeout) {
    Duration limit = (timeout == null ? MOVE_TIMEOUT : timeout).plus(MOVE_ANSWER);
    return TestClock.from(calls.send(path, Wire.encode(request), false, limit).json());
  }
}
