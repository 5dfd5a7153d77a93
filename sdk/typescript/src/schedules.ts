import type { Calls, CallOptions } from "./calls.js";
import { refusal, resultsOf, type Refused } from "./batch.js";
import { stopped, walk, type MatchingTotal, type WalkOptions } from "./matching.js";
import { dateOf } from "./time.js";
import type * as api from "./types.js";
import { decode, encode } from "./wire.js";

/** A schedule after a write. inTime is false if an occurrence by the earlier state may have been created at the moment of the write. */
export type WrittenSchedule = api.Schedule & { readonly inTime: boolean };

/** The result of one item of a batch: the written schedule, or the error that a call with this item alone would have thrown. */
export type ScheduleBatchItem =
  | {
      readonly error?: undefined;
      readonly namespace: string;
      readonly id: string;
      readonly version: number;
      /** The instant of the next occurrence. Absent after a deletion. */
      readonly nextAt?: Date;
      /** True if onConflict was "keep" and the id existed, so that nothing was written. */
      readonly kept: boolean;
      /** False if an occurrence by the earlier state may have been created at the moment of the write. */
      readonly inTime: boolean;
    }
  | Refused;

/** The total of the requests of a backfill. */
export interface BackfillTotal {
  readonly requests: number;
  /** Occurrences that are new. */
  readonly created: number;
  /** Occurrences that existed, also those of the first try of a request that was repeated. */
  readonly kept: number;
  /** Where to continue: after an error, pass it to the next call as from. Absent if the range is complete. */
  readonly nextFrom?: Date;
}

/** Schedules create timers, their occurrences. */
export class Schedules {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Creates a schedule, or replaces the schedule with this id (onConflict "keep" and "fail" do not replace it). */
  create(request: api.CreateScheduleRequest, options?: CallOptions): Promise<WrittenSchedule> {
    const repeat = request.onConflict !== "fail";
    return this.#calls.written<api.Schedule>("Schedule", "schedules/create", "CreateScheduleRequest", request, repeat, options);
  }

  /** Returns a schedule. A schedule that has ended is returned until its history expires. */
  get(request: api.ScheduleSelection, options?: CallOptions): Promise<api.Schedule> {
    return this.#calls.one("Schedule", "schedules/get", "ScheduleSelection", request, true, options);
  }

  /** Changes the given fields; timer replaces the whole template. With ifVersion or pending "delete" it is not repeated after a broken connection. */
  update(request: api.UpdateScheduleRequest, options?: CallOptions): Promise<WrittenSchedule> {
    const repeat = request.ifVersion == null && request.pending !== "delete";
    return this.#calls.written<api.Schedule>("Schedule", "schedules/update", "UpdateScheduleRequest", request, repeat, options);
  }

  /**
   * Deletes a schedule. inTime true means that no occurrence follows; false, that one may have been created at that moment. Occurrences that
   * exist stay, unless pending is "delete". It is not repeated after a broken connection.
   */
  async delete(request: api.DeleteScheduleRequest, options?: CallOptions): Promise<{ readonly inTime: boolean }> {
    return { inTime: (await this.#calls.send("schedules/delete", request, false, options)).status === 204 };
  }

  /** Returns one page of a list. */
  page(request: api.ListSchedulesRequest = {}, options?: CallOptions): Promise<api.SchedulePage> {
    return this.#calls.one("SchedulePage", "schedules/list", "ListSchedulesRequest", request, true, options);
  }

  /** Iterates over the schedules of all pages. */
  async *all(request: api.ListSchedulesRequest = {}, options?: CallOptions): AsyncGenerator<api.Schedule, void, undefined> {
    for (let next: api.ListSchedulesRequest = request; ; ) {
      const page = await this.page(next, options);
      yield* page.schedules;
      if (page.nextCursor === undefined) return;
      next = { ...request, cursor: page.nextCursor };
    }
  }

  /** Pauses a schedule: it creates no occurrences until it is resumed. */
  pause(request: api.PauseScheduleRequest, options?: CallOptions): Promise<WrittenSchedule> {
    return this.#calls.written<api.Schedule>("Schedule", "schedules/pause", "PauseScheduleRequest", request, true, options);
  }

  /** Resumes a paused schedule, without the occurrences of the pause. */
  resume(request: api.ScheduleSelection, options?: CallOptions): Promise<WrittenSchedule> {
    return this.#calls.written<api.Schedule>("Schedule", "schedules/resume", "ScheduleSelection", request, true, options);
  }

  /** Creates an occurrence now. It is not repeated after a broken connection, because a second call creates a second occurrence. */
  trigger(request: api.ScheduleSelection, options?: CallOptions): Promise<api.Timer> {
    return this.#calls.one("Timer", "schedules/trigger", "ScheduleSelection", request, false, options);
  }

  /** Creates at most 1,000 occurrences of a past time range. */
  backfillPage(request: api.BackfillScheduleRequest, options?: CallOptions): Promise<api.ScheduleBackfill> {
    return this.#calls.one("ScheduleBackfill", "schedules/backfill", "BackfillScheduleRequest", request, true, options);
  }

  /** Creates the occurrences of a past time range, with as many requests as are needed. */
  async backfill(request: api.BackfillScheduleRequest, options: WalkOptions<BackfillTotal> = {}): Promise<BackfillTotal> {
    const next = { ...request };
    let total: BackfillTotal = { requests: 0, created: 0, kept: 0, nextFrom: dateOf(request.from) };
    for (;;) {
      let part: api.ScheduleBackfill;
      try {
        part = await this.backfillPage(next, options);
      } catch (error) {
        throw stopped(error, total);
      }
      total = {
        requests: total.requests + 1,
        created: total.created + part.created,
        kept: total.kept + part.kept,
        ...(part.nextFrom === undefined ? {} : { nextFrom: part.nextFrom }),
      };
      options.progress?.(total);
      if (part.nextFrom === undefined) return total;
      next.from = part.nextFrom;
    }
  }

  /** Computes the next occurrences of a schedule (id), or of a definition that is not saved (specs). */
  preview(request: api.PreviewScheduleRequest, options?: CallOptions): Promise<api.SchedulePreview> {
    return this.#calls.one("SchedulePreview", "schedules/preview", "PreviewScheduleRequest", request, true, options);
  }

  /** Returns what a schedule has decided, newest first. */
  history(request: api.ScheduleHistoryRequest, options?: CallOptions): Promise<api.ScheduleHistory> {
    return this.#calls.one("ScheduleHistory", "schedules/history", "ScheduleHistoryRequest", request, true, options);
  }

  /** Creates up to 1,000 schedules, and returns a result for each, in order. It is repeated as createMany of timers is. */
  createMany(schedules: readonly api.CreateScheduleRequest[], options?: CallOptions): Promise<ScheduleBatchItem[]> {
    const repeat = schedules.every((one) => one.onConflict !== "fail");
    const items = schedules.map((one) => encode("CreateScheduleRequest", one));
    return this.#batch("schedules/batch-create", items, repeat, options);
  }

  /** Deletes up to 1,000 schedules, and returns a result for each, in order. It is not repeated after a broken connection. */
  deleteMany(schedules: readonly api.DeleteScheduleRequest[], options?: CallOptions): Promise<ScheduleBatchItem[]> {
    return this.#batch("schedules/batch-delete", schedules, false, options);
  }

  async #batch(path: string, schedules: readonly object[], repeat: boolean, options?: CallOptions): Promise<ScheduleBatchItem[]> {
    const { data } = await this.#calls.send(path, { schedules }, repeat, options);
    return resultsOf(path, decode<api.ScheduleBatchResults>("ScheduleBatchResults", data).results, schedules.length).map(item);
  }

  /** Pauses the schedules on all pages of a filter. */
  pauseMatching(request: api.PauseMatchingSchedulesRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "schedules/pause-matching", "PauseMatchingSchedulesRequest", request, true, options);
  }

  /** Resumes the paused schedules on all pages of a filter; with status "parked", starts parked ones again. */
  resumeMatching(request: api.ResumeMatchingSchedulesRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "schedules/resume-matching", "ResumeMatchingSchedulesRequest", request, true, options);
  }

  /** Deletes the schedules on all pages of a filter. */
  deleteMatching(request: api.DeleteMatchingSchedulesRequest, options?: WalkOptions): Promise<MatchingTotal> {
    return walk(this.#calls, "schedules/delete-matching", "DeleteMatchingSchedulesRequest", request, true, options);
  }
}

function item(result: api.ScheduleBatchResult): ScheduleBatchItem {
  if (result.status >= 300) return refusal(result);
  return {
    namespace: result.namespace ?? "",
    id: result.id ?? "",
    version: result.version ?? 0,
    kept: result.kept ?? false,
    inTime: result.status !== 202,
    ...(result.nextAt === undefined ? {} : { nextAt: result.nextAt }),
  };
}
