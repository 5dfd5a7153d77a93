import { milliseconds, type CallOptions, type Calls } from "./calls.js";
import type { DurationInput } from "./time.js";
import type * as api from "./types.js";
import { decode, encode } from "./wire.js";

/** The timeout of a move whose request has none, and how much longer a try waits for the answer. */
const moveTimeout = 60_000;
const moveAnswer = 10_000;

/**
 * The test clock of `timerbus dev --test-clock`. A service without one answers NOT_FOUND (404).
 *
 * A move waits until no timer is due, moves the clock to the next due time, or to the target if that is earlier, and repeats this until the
 * clock has reached the target and no timer is due. If another call is moving the clock, the error has the code CLOCK_BUSY (409). After
 * timeout, by default 60 s, it has the code CLOCK_NOT_QUIET (504): then the clock has moved, and set with the target of the details
 * continues. Each try of a move waits 10 s longer than timeout for the answer.
 */
export class Clock {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Moves the clock forward by a duration. It is not repeated after a broken connection, because the clock would move twice. */
  advance(request: api.AdvanceClockRequest, options?: CallOptions): Promise<api.TestClock> {
    return this.#move("clock/advance", "AdvanceClockRequest", request, options);
  }

  /** Moves the clock forward to a time. It does not move back. It is not repeated after a broken connection. */
  set(request: api.SetClockRequest, options?: CallOptions): Promise<api.TestClock> {
    return this.#move("clock/set", "SetClockRequest", request, options);
  }

  /** Returns what the clock shows, and when the next timer is due. */
  get(options?: CallOptions): Promise<api.TestClock> {
    return this.#calls.one("TestClock", "clock/get", "GetClockRequest", {}, true, options);
  }

  async #move(path: string, model: string, request: { timeout?: DurationInput | null | undefined }, options?: CallOptions): Promise<api.TestClock> {
    const tryTimeout = limit(request.timeout) + moveAnswer;
    const { data } = await this.#calls.send(path, encode(model, request), false, { ...options, tryTimeout });
    return decode("TestClock", data);
  }
}

function limit(timeout: DurationInput | null | undefined): number {
  try {
    return timeout == null ? moveTimeout : milliseconds(timeout);
  } catch {
    return moveTimeout; // the service refuses it
  }
}
