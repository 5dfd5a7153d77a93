/** Calls over all pages of a filter. */

import type { Calls, CallOptions } from "./calls.js";
import { TimerbusError } from "./errors.js";
import type { MatchingPage } from "./types.js";
import { decode, encode } from "./wire.js";

/** The total of the pages of a filter. */
export interface MatchingTotal {
  readonly pages: number;
  /** Timers or schedules that the filter selected. */
  readonly matched: number;
  /** Those that were changed. */
  readonly applied: number;
  /** Those of them whose earlier delivery may have been sent. */
  readonly late: number;
  /** Those that were not changed: they were deleted or changed meanwhile, or have the state already. */
  readonly skipped: number;
  /** Where to continue: after an error, pass it to the next call. "" if all pages are processed. */
  readonly cursor: string;
  /** When the next timer of a resume with a rate becomes due: after an error, pass it on with the cursor. */
  readonly startAt?: Date;
}

/** Options of a call over all pages. */
export interface WalkOptions<T = MatchingTotal> extends CallOptions {
  /** Called after each page. */
  progress?: ((total: T) => void) | undefined;
}

export const nothing: MatchingTotal = { pages: 0, matched: 0, applied: 0, late: 0, skipped: 0, cursor: "" };

export function plus(total: MatchingTotal, page: Omit<MatchingPage, "late"> & { late?: number }): MatchingTotal {
  return {
    pages: total.pages + 1,
    matched: total.matched + page.matched,
    applied: total.applied + page.applied,
    late: total.late + (page.late ?? 0),
    skipped: total.skipped + page.skipped,
    cursor: page.nextCursor ?? "",
  };
}

/** Adds the total to an error of a call over all pages. */
export function stopped(error: unknown, total: unknown): unknown {
  if (error instanceof TimerbusError) error.progress = total;
  return error;
}

export async function walk(
  calls: Calls,
  path: string,
  model: string,
  request: { readonly cursor?: string | null | undefined },
  repeat: boolean,
  options: WalkOptions = {},
): Promise<MatchingTotal> {
  const encoded = encode(model, request);
  let total: MatchingTotal = { ...nothing, cursor: request.cursor ?? "" };
  for (;;) {
    try {
      const page = total.cursor === "" ? encoded : { ...encoded, cursor: total.cursor };
      total = plus(total, decode<MatchingPage>("MatchingPage", (await calls.send(path, page, repeat, options)).data));
    } catch (error) {
      throw stopped(error, total);
    }
    options.progress?.(total);
    if (total.cursor === "") return total;
  }
}
