/** Sends calls, and repeats them if that is safe. */

import { ConnectionFailed, RequestTimeout, ServiceError, TimerbusError } from "./errors.js";
import { parseDuration, type DurationInput } from "./time.js";
import { version } from "./version.js";
import { decode, encode } from "./wire.js";

/** Options of a client. */
export interface ClientOptions {
  /** Sent with every call as a bearer token. */
  token?: string | undefined;
  /** Limits each try; by default 30 s. */
  timeout?: DurationInput | undefined;
  /** How often a call is tried at most; by default 4, and 1 means no retries. */
  tries?: number | undefined;
  /**
   * The longest pause between tries; by default 5 s. Pauses are random times that double from 100 ms. A Retry-After of the service is
   * followed if it is at most as long.
   */
  longestPause?: DurationInput | undefined;
  /** Names the caller in the logs of the service. */
  userAgent?: string | undefined;
  /** Replaces the global fetch. */
  fetch?: typeof fetch | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call. It may still be applied. */
  signal?: AbortSignal | undefined;
}

/** An answer with its HTTP status. */
export interface Answer {
  readonly status: number;
  readonly data: unknown;
}

const firstPause = 100;

const deno = "Deno" in globalThis;

export class Calls {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #tries: number;
  readonly #longest: number;
  readonly #fetch: typeof fetch;

  constructor(baseUrl: string, options: ClientOptions) {
    let url: URL | undefined;
    try {
      url = new URL(baseUrl);
    } catch {
      // reported below
    }
    if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.search !== "" || url.hash !== "") {
      throw new TypeError(`base URL ${JSON.stringify(baseUrl)} is not accepted: want http:// or https://, a host, and at most a path`);
    }
    this.#base = baseUrl.replace(/\/+$/, "") + "/api/v1/";
    this.#headers = {
      "Content-Type": "application/json",
      Accept: "application/json",
      "User-Agent": options.userAgent ?? `timerbus-typescript/${version}`,
    };
    if (options.token !== undefined) this.#headers["Authorization"] = `Bearer ${options.token}`;
    this.#timeout = milliseconds(options.timeout ?? 30_000);
    this.#longest = milliseconds(options.longestPause ?? 5_000);
    this.#tries = options.tries ?? 4;
    this.#fetch = options.fetch ?? ((...args) => fetch(...args));
  }

  /** Sends a request. repeat means that applying the call twice has the same effect as applying it once. A try lasts at least tryTimeout, in ms. */
  async send(path: string, request: object, repeat: boolean, options: CallOptions & { tryTimeout?: number } = {}): Promise<Answer> {
    const body = JSON.stringify(request);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#try(path, body, Math.max(this.#timeout, options.tryTimeout ?? 0), options.signal);
      } catch (error) {
        const pause = error instanceof TimerbusError ? this.pause(attempt, repeat, error) : undefined;
        if (pause === undefined) throw error;
        await sleep(pause, options.signal);
      }
    }
  }

  /** Returns the answer to a request, with native values. */
  async one<T>(answer: string, path: string, model: string, request: object, repeat: boolean, options?: CallOptions): Promise<T> {
    return decode<T>(answer, (await this.send(path, encode(model, request), repeat, options)).data);
  }

  /** Returns a timer or schedule after a write. */
  async written<T>(
    answer: string,
    path: string,
    model: string,
    request: object,
    repeat: boolean,
    options?: CallOptions,
  ): Promise<T & { readonly inTime: boolean }> {
    const { status, data } = await this.send(path, encode(model, request), repeat, options);
    return { ...decode<T>(answer, data), inTime: status === 200 };
  }

  /** Returns the milliseconds before the next try, or undefined if the error is the result. */
  pause(attempt: number, repeat: boolean, error: TimerbusError): number | undefined {
    if (attempt >= this.#tries) return undefined;
    // Half of the pause is random, so that callers that failed together do not retry together.
    const longest = Math.min(firstPause * 2 ** Math.min(attempt - 1, 16), this.#longest);
    const pause = longest / 2 + (Math.random() * longest) / 2;
    if (!(error instanceof ServiceError)) return repeat || !error.mayBeApplied ? pause : undefined;
    if (error.status !== 429 && error.status !== 503) return undefined;
    const after = (error.retryAfter ?? 0) * 1000;
    return after <= this.#longest ? Math.max(pause, after) : undefined;
  }

  async #try(path: string, body: string, timeout: number, signal: AbortSignal | undefined): Promise<Answer> {
    signal?.throwIfAborted();
    const abort = new AbortController();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      abort.abort();
    }, timeout);
    const onAbort = (): void => abort.abort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const response = await this.#fetch(this.#base + path, {
        method: "POST",
        headers: this.#headers,
        // Deno sends a request again if a connection that it has used before is reset, even if the server has got the request. It cannot
        // do so with a stream.
        ...(deno ? { body: new Blob([body]).stream(), duplex: "half" } : { body }),
        signal: abort.signal,
        redirect: "manual",
      });
      return answered(path, response, await response.text());
    } catch (error) {
      if (error instanceof TimerbusError) throw error;
      signal?.throwIfAborted();
      if (timedOut) throw new RequestTimeout(`${path}: no answer within ${timeout} ms`, true, { cause: error });
      throw new ConnectionFailed(`${path}: ${described(error)}`, !neverConnected(error), { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

function answered(path: string, response: Response, text: string): Answer {
  if (response.status === 204) return { status: response.status, data: {} };
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    data = undefined;
  }
  if (response.status < 300) {
    if (data === undefined) throw new ConnectionFailed(`${path}: the answer is not JSON`, true);
    return { status: response.status, data };
  }
  const header = response.headers.get("Retry-After") ?? "";
  const retryAfter = /^\d+$/.test(header) ? Number(header) : undefined;
  const answer = data as { error?: unknown; message?: unknown; details?: unknown } | undefined | null;
  if (typeof answer?.error === "string") {
    const details = typeof answer.details === "object" && answer.details !== null ? (answer.details as Record<string, unknown>) : {};
    throw new ServiceError(response.status, answer.error, String(answer.message ?? ""), details, retryAfter);
  }
  throw new ServiceError(response.status, "", text.slice(0, 200).trim() || "the answer has no message", {}, retryAfter);
}

/** The codes of connections that were not made, if the error has no system call: in undici and Bun. Errors of Deno have only a message. */
const notMade = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"]);
const connecting = new Set(["connect", "getaddrinfo"]);

function neverConnected(error: unknown): boolean {
  for (let e = error; typeof e === "object" && e !== null; e = (e as { cause?: unknown }).cause) {
    const { code, syscall, message } = e as { code?: unknown; syscall?: unknown; message?: unknown };
    if (deno && String(message).includes("client error (Connect)")) return true;
    if (syscall === undefined ? notMade.has(String(code)) : connecting.has(String(syscall))) return true;
    // All addresses of a host failed.
    const all = (e as { errors?: unknown }).errors;
    if (Array.isArray(all) && all.length > 0) return all.every(neverConnected);
  }
  return false;
}

function described(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${String(error)}: ${cause.message}` : String(error);
}

export function milliseconds(value: DurationInput): number {
  if (typeof value === "string") return parseDuration(value);
  return typeof value === "number" ? value : value.total("milliseconds");
}

/** Waits, or rejects with the reason of the signal. */
export async function sleep(pause: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, pause);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
