/** Errors of calls. */

import type { ErrorCode } from "./types.js";

/** The base of all errors of calls. */
export class TimerbusError extends Error {
  override readonly name: string = "TimerbusError";
  /** False if the call was certainly not applied. True after a broken connection, a timeout, and a status of 500 or more except 503. */
  readonly mayBeApplied: boolean;
  /** The total of the pages before the error, if a call over all pages failed. */
  progress: unknown = undefined;

  constructor(message: string, mayBeApplied: boolean, options?: ErrorOptions) {
    super(message, options);
    this.mayBeApplied = mayBeApplied;
  }
}

/** An error answer of the service. */
export class ServiceError extends TimerbusError {
  override readonly name = "ServiceError";

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The error code. It is "" if the answer is not from the service but, for example, from a proxy. */
    readonly code: ErrorCode | "",
    /** Names the problem, the value, and the accepted values. */
    readonly reason: string,
    /** The parts of the reason by name; they depend on the code. */
    readonly details: Readonly<Record<string, unknown>> = {},
    /** The seconds of the Retry-After header. */
    readonly retryAfter: number | undefined = undefined,
  ) {
    super(code === "" ? `${status}: ${reason}` : `${reason} (${code})`, status >= 500 && status !== 503);
  }

  /** The field that was refused, if the code is INVALID_INPUT: "callbackUrl", or "timers[7].callbackUrl" of a batch. */
  get field(): string | undefined {
    const field = this.details["field"];
    return typeof field === "string" ? field : undefined;
  }
}

/** The connection could not be made, or broke before the whole answer arrived. */
export class ConnectionFailed extends TimerbusError {
  override readonly name: string = "ConnectionFailed";
}

/** The answer did not arrive in time. */
export class RequestTimeout extends ConnectionFailed {
  override readonly name = "RequestTimeout";
}
