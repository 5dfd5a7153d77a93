/** The results of batches. */

import { ConnectionFailed, ServiceError } from "./errors.js";
import type * as api from "./types.js";

/** An item of a batch that was refused, with the error that a call with this item alone would have thrown. */
export interface Refused {
  readonly error: ServiceError;
}

export function refusal(result: { readonly status: number; readonly error?: api.Error }): Refused {
  const { error: code = "", message = "the item has no message", details = {} } = result.error ?? {};
  return { error: new ServiceError(result.status, code, message, details as Record<string, unknown>) };
}

/** Checks that each item has a result. */
export function resultsOf<T>(path: string, results: readonly T[], items: number): readonly T[] {
  if (results.length !== items) throw new ConnectionFailed(`${path}: ${results.length} results for ${items} items`, true);
  return results;
}
