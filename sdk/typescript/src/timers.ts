import type { Calls, CallOptions } from "./calls.js";
import { sleep } from "./calls.js";
import { refusal, resultsOf, type Refused } from "./batch.js";
import { TimerbusError } from "./errors.js";
import { nothing, plus, stopped, walk, type MatchingTotal, type WalkOptions } from "./matching.js";
import type * as api from "./types.js";
import { dateOf } from "./time.js";
import { decode, encode } from "./wire.js";

/** A timer after a write. inTime is false if the timer's earlier delivery may have been sent before the write. */
export type WrittenTimer = api.Timer & { readonly inTime: boolean };

/** The result of one item of a batch: the written timer, or the error that a call with this item alone would have thrown. */
export type BatchItem =
  | {
      readonly error?: undefined;
      readonly namespace: string;
      readonly id: string;
      readonly generation: string;
      /** Absent after a deletion. */
      readonly dueAt?: Date;
      /** True if onConflict was "keep" and the id existed, so that nothing was written. */
      readonly kept: boolean;
      /** False if the timer's earlier delivery may have been sent before the write. */
      readonly inTime: boolean;
    }
  | Refused;

/** The limit of a page whose request has none. */
const pageSize = 100;

/** Timers. Every method rejects with a TimerbusError. */
export class Timers {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Creates a timer, or replaces the timer with this id (onConflict "keep" and "fail" do not replace it). A call that is sent twice creates
   * one timer. With "fail" it is not repeated after a broken connection.
   */
  create(request: api.CreateTimerRequest, options?: CallOptions): Promise<WrittenTimer> {
    return this.#calls.written<api.Timer>("Timer", "timers/create", "CreateTimerRequest", request, request.onConflict !== "fail", options);
  }

  /** Returns a timer. Finished timers are returned until their history expires. */
  get(request: api.TimerSelection, options?: CallOptions): Promise<api.Timer> {
    return this.#calls.one("Timer", "timers/get", "TimerSelection", request, true, options);
  }

  /** Changes the given fields. null sets a field back to its default. With ifGeneration it is not repeated after a broken connection. */
  update(request: api.UpdateTimerRequest, options?: CallOptions): Promise<WrittenTimer> {
    return this.#calls.written<api.Timer>("Timer", "timers/update", "UpdateTimerRequest", request, request.ifGeneration == null, options);
  }

  /**
   * Deletes a timer. inTime true means that its delivery never follows; false, that it may have been sent before. It is not repeated after a
   * broken connection.
   */
  async delete(request: api.DeleteTimerRequest, options?: CallOptions): Promise<{ readonly inTime: boolean }> {
    return { inTime: (await this.#calls.send("timers/delete", request, false, options)).status === 204 };
  }

  /** Returns one page of a list. It may have fewer timers than the limit, and still have a nextCursor. */
  page(request: api.ListTimersRequest = {}, options?: CallOptions): Promise<api.TimerPage> {
    return this.#calls.one("TimerPage", "timers/list", "ListTimersRequest", request, true, options);
  }

  /** Iterates over the timers of all pages. */
  async *all(request: api.ListTimersRequest = {}, options?: CallOptions): AsyncGenerator<api.Timer, void, undefined> {
    for (let next: api.ListTimersRequest = request; ; ) {
      const page = await this.page(next, options);
      yield* page.timers;
      if (page.nextCursor === undefined) return;
      next = { ...request, cursor: page.nextCursor };
    }
  }

  /** Counts timers. If the answer is truncated, there are at least as many. */
  count(request: api.CountTimersRequest = {}, options?: CallOptions): Promise<api.TimerCount> {
    return this.#calls.one("TimerCount", "timers/count", "CountTimersRequest", request, true, options);
  }

  /** Counts the timers that become due, for each bucket of a time range. */
  forecast(request: api.ForecastTimersRequest, options?: CallOptions): Promise<api.TimerForecast> {
    return this.#calls.one("TimerForecast", "timers/forecast", "ForecastTimersRequest", request, true, options);
  }

  /** Returns a timer's attempts, newest first. */
  history(request: api.TimerHistoryRequest, options?: CallOptions): Promise<api.TimerHistory> {
    return this.#calls.one("TimerHistory", "timers/history", "TimerHistoryRequest", request, true, options);
  }

  /** Makes a timer due now, as a new generation. It is not repeated after a broken connection. */
  runNow(request: api.RunTimerRequest, options?: CallOptions): Promise<WrittenTimer> {
    return this.#calls.written<api.Timer>("Timer", "timers/run-now", "RunTimerRequest", request, false, options);
  }

  /** Pauses a timer: it is not delivered until it is resumed. */
  pause(request: api.PauseTimerRequest, options?: CallOptions): Promise<WrittenTimer> {
    return this.#calls.written<api.Timer>("Timer", "timers/pause", "PauseTimerRequest", request, true, options);
  }

  /** Resumes a paused timer. A timer that is not paused is not changed. */
  resume(request: api.ResumeTimerRequest, options?: CallOptions): Promise<WrittenTimer> {
    return this.#calls.written<api.Timer>("Timer", "timers/resume", "ResumeTimerRequest", request, true, options);
  }

  /** Schedules a dead or parked timer again, as a new generation. It is not repeated after a broken connection. */
  retry(request: api.RetryTimerRequest, options?: CallOptions): Promise<api.Timer> {
    return this.#calls.one("Timer", "timers/retry", "RetryTimerRequest", request, false, options);
  }

  /**
   * Creates up to 1,000 timers, and returns a result for each, in order. Each item is applied or refused separately. The batch is repeated if
   * that is safe for all items; single items that were refused with UNAVAILABLE or RATE_LIMITED are not repeated.
   */
  createMany(timers: readonly api.CreateTimerRequest[], options?: CallOptions): Promise<BatchItem[]> {
    const repeat = timers.every((one) => one.onConflict !== "fail");
    const items = timers.map((one) => encode("CreateTimerRequest", one));
    return this.#batch("timers/batch-create", items, repeat, options);
  }

  /** Deletes up to 1,000 timers, and returns a result for each, in order. It is not repeated after a broken connection. */
  deleteMany(timers: readonly api.DeleteTimerRequest[], options?: CallOptions): Promise<BatchItem[]> {
    return this.#batch("timers/batch-delete", timers, false, options);
  }

  async #batch(path: string, timers: readonly object[], repeat: boolean, options?: CallOptions): Promise<BatchItem[]> {
    const { data } = await this.#calls.send(path, { timers }, repeat, options);
    return resultsOf(path, decode<api.BatchResults>("BatchResults", data).results, timers.length).map(item);
  }

  /** Deletes the timers on all pages of a filter. */
  deleteMatching(request: api.DeleteMatchingRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "timers/delete-matching", "DeleteMatchingRequest", request, true, options);
  }

  /** Deletes the timers on one page of a filter. */
  deleteMatchingPage(request: api.DeleteMatchingRequest, options?: CallOptions): Promise<api.MatchingPage> {
    return this.#calls.one("MatchingPage", "timers/delete-matching", "DeleteMatchingRequest", request, true, options);
  }

  /**
   * Changes the time of the timers on all pages of a filter. With shiftBy, a page is not repeated after a broken connection, because it could
   * be shifted twice.
   */
  rescheduleMatching(request: api.RescheduleMatchingRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "timers/reschedule-matching", "RescheduleMatchingRequest", request, request.shiftBy == null, options);
  }

  /** Changes the time of the timers on one page of a filter. */
  rescheduleMatchingPage(request: api.RescheduleMatchingRequest, options?: CallOptions): Promise<api.MatchingPage> {
    const repeat = request.shiftBy == null;
    return this.#calls.one("MatchingPage", "timers/reschedule-matching", "RescheduleMatchingRequest", request, repeat, options);
  }

  /** Schedules the dead or parked timers on all pages of a filter again. */
  retryMatching(request: api.RetryMatchingRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "timers/retry-matching", "RetryMatchingRequest", request, true, options);
  }

  /** Pauses the timers on all pages of a filter. */
  pauseMatching(request: api.PauseMatchingRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "timers/pause-matching", "PauseMatchingRequest", request, true, options);
  }

  /** Removes the dead or done timers on all pages of a filter from history. */
  purgeMatching(request: api.PurgeMatchingRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "timers/purge-matching", "PurgeMatchingRequest", request, true, options);
  }

  /**
   * Resumes the paused timers on one page of a filter. With resumeRate it is not repeated after a broken connection: the timers that follow
   * would get the times of the first ones.
   */
  resumeMatchingPage(request: api.ResumeMatchingRequest, options?: CallOptions): Promise<api.ResumePage> {
    const repeat = !request.resumeRate;
    return this.#calls.one("ResumePage", "timers/resume-matching", "ResumeMatchingRequest", request, repeat, options);
  }

  /**
   * Resumes the paused timers on all pages of a filter, and keeps resumeRate over all pages: after a broken connection a page is sent again with
   * a startAt that is later by the seconds that the page may have used.
   */
  async resumeMatching(request: api.ResumeMatchingRequest, options: WalkOptions = {}): Promise<MatchingTotal> {
    const next = { ...request };
    let total: MatchingTotal = { ...nothing, cursor: request.cursor ?? "" };
    const started = (): MatchingTotal => (next.startAt == null ? total : { ...total, startAt: dateOf(next.startAt) });
    for (;;) {
      try {
        total = plus(total, await this.#resumePage(next, options));
      } catch (error) {
        throw stopped(error, started());
      }
      total = started();
      options.progress?.(total);
      if (total.cursor === "") return total;
      next.cursor = total.cursor;
    }
  }

  async #resumePage(request: api.ResumeMatchingRequest, options: CallOptions): Promise<api.ResumePage> {
    for (let attempt = 1; ; attempt++) {
      try {
        const page = await this.resumeMatchingPage(request, options);
        if (page.nextStartAt !== undefined) request.startAt = page.nextStartAt;
        return page;
      } catch (error) {
        const rate = request.resumeRate;
        if (!(error instanceof TimerbusError) || !rate || !error.mayBeApplied) throw error;
        const start = Math.max(Date.now(), request.startAt == null ? 0 : dateOf(request.startAt).getTime());
        request.startAt = new Date(start + ((request.limit ?? pageSize) / rate) * 1000);
        const pause = this.#calls.pause(attempt, true, error);
        if (pause === undefined) throw error;
        await sleep(pause, options.signal);
      }
    }
  }
}

function item(result: api.BatchResult): BatchItem {
  if (result.status >= 300) return refusal(result);
  return {
    namespace: result.namespace ?? "",
    id: result.id ?? "",
    generation: result.generation ?? "",
    kept: result.kept ?? false,
    inTime: result.status !== 202,
    ...(result.dueAt === undefined ? {} : { dueAt: result.dueAt }),
  };
}
