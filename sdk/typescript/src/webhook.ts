/** Receivers of callbacks: verification, parsing and answers. timerbus/express, fastify, hono, next and fetch adapt them. */

import { Webhook } from "standardwebhooks";
import { formatInstant, type DurationInput, type InstantInput } from "./time.js";
import { milliseconds } from "./calls.js";

/** A timer that is due: the body of a callback, and the data of a fired event. */
export interface Delivery {
  /** Identifies the delivery: every repetition has the same one. */
  readonly webhookId: string;
  readonly namespace: string;
  readonly timerId: string;
  /** The schedule of which the timer is an occurrence. */
  readonly scheduleId?: string;
  /** The planned time of the timer. */
  readonly executeAt: Date;
  /** When this attempt was due: executeAt, or later for a retry. */
  readonly scheduledFor: Date;
  readonly attempt: number;
  readonly generation: string;
  readonly correlationId: string;
  readonly payload: unknown;
}

/** The answer to a callback: done, retry, reschedule or stopSchedule returns one. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The delivery was processed: a repetition gets the same reply. */
  readonly processed: boolean;
}

function reply(status: number, body: object, processed = false, headers: Record<string, string> = {}): Reply {
  return { status, body: JSON.stringify(body), processed, headers: { "Content-Type": "application/json", ...headers } };
}

/** The timer is done. A handler that returns nothing answers the same. */
export function done(): Reply {
  return reply(200, { ok: true }, true);
}

/** The attempt has failed, and is repeated by the timer's retry policy; with after, at the earliest after this time. */
export function retry(after?: DurationInput): Reply {
  if (after === undefined) return reply(200, { ok: false });
  return reply(503, { ok: false }, false, { "Retry-After": String(Math.ceil(milliseconds(after) / 1000)) });
}

/** The timer fires again at this time, as a new generation. The next occurrence of a schedule moves to this time. */
export function reschedule(at: InstantInput): Reply {
  return reply(200, { ok: true, nextExecuteAt: formatInstant(at, "at") }, true);
}

/** The timer is done, and its schedule ends. */
export function stopSchedule(): Reply {
  return reply(200, { ok: true, stopSchedule: true }, true);
}

/** Handles a delivery. If it throws, the attempt has failed and is repeated. */
export type Handler = (delivery: Delivery) => Reply | void | Promise<Reply | void>;

/** Stores the replies to deliveries that were processed: a receiver answers a repetition with the first reply. */
export interface Deduplication {
  /** Returns the reply that remember has stored for this delivery, or null or undefined. */
  find(webhookId: string): string | null | undefined | Promise<string | null | undefined>;
  /** Stores done, reschedule or stopSchedule, as the JSON text of the answer. A delivery that is retried is not remembered. */
  remember(webhookId: string, reply: string): void | Promise<unknown>;
}

/** Remembers the last replies in this process: enough for one process that may forget them when it ends. */
export class MemoryDeduplication implements Deduplication {
  readonly #replies = new Map<string, string>();
  readonly #size: number;

  constructor(size = 10_000) {
    this.#size = size;
  }

  find(webhookId: string): string | undefined {
    return this.#replies.get(webhookId);
  }

  remember(webhookId: string, reply: string): void {
    this.#replies.set(webhookId, reply);
    for (const oldest of this.#replies.keys()) {
      if (this.#replies.size <= this.#size) break;
      this.#replies.delete(oldest);
    }
  }
}

/** Options of a receiver. */
export interface ReceiverOptions {
  /**
   * The secrets of the namespace ("whsec_…"): one, or during a rotation two. null accepts callbacks without a signature: only for tests and
   * closed networks.
   */
  secrets: string | readonly string[] | null;
  handler: Handler;
  deduplication?: Deduplication | undefined;
  /** Called with the error if the handler throws; by default console.error. */
  onError?: ((error: unknown, delivery: Delivery) => void) | undefined;
}

/** The headers of a request, in any of the usual forms. */
export type HeaderInput = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Verifies callbacks, calls a handler, and returns the answers. */
export class Receiver {
  readonly #webhooks: readonly Webhook[] | null;
  readonly #options: ReceiverOptions;

  constructor(options: ReceiverOptions) {
    const { secrets } = options;
    if (secrets !== null && secrets.length === 0) {
      throw new TypeError("secrets is empty: want a secret, or null to accept callbacks without a signature");
    }
    this.#webhooks = secrets === null ? null : (typeof secrets === "string" ? [secrets] : secrets).map((one) => new Webhook(one));
    this.#options = options;
  }

  /** Answers a callback. body must be the bytes as received, or their text. */
  async receive(headers: HeaderInput, body: string | Uint8Array): Promise<Reply> {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
    const lower = lowered(headers);
    if (this.#webhooks !== null && !this.#webhooks.some((one) => verified(one, text, lower))) {
      return reply(401, { error: "the signature is invalid" });
    }
    const id = lower["webhook-id"] ?? "";
    if (id === "") return reply(400, { error: "the header webhook-id is missing" });
    let delivery: Delivery;
    try {
      delivery = parseDelivery(id, JSON.parse(text));
    } catch (error) {
      return reply(400, { error: `the body is not a delivery: ${String(error)}` });
    }
    const { deduplication, handler, onError } = this.#options;
    const remembered: unknown = (await deduplication?.find(delivery.webhookId)) ?? undefined;
    if (typeof remembered === "string") return { ...done(), body: remembered };
    if (remembered !== undefined) {
      // Some database clients return a parsed object for a column of JSON.
      throw new TypeError(`deduplication.find returned ${typeof remembered}: want the text of remember, or null`);
    }
    let answer: Reply;
    try {
      answer = (await handler(delivery)) ?? done();
    } catch (error) {
      (onError ?? ((e: unknown) => console.error("handler of a callback failed:", e)))(error, delivery);
      return reply(500, { error: "the handler failed" });
    }
    if (answer.processed) await deduplication?.remember(delivery.webhookId, answer.body);
    return answer;
  }
}

/** Parses the JSON of a delivery. Unknown fields are ignored. */
export function parseDelivery(webhookId: string, data: unknown): Delivery {
  const d = data as Record<string, unknown>;
  const text = (name: string): string => {
    const value = d[name];
    if (typeof value !== "string") throw new TypeError(`${name} is not a string`);
    return value;
  };
  const instant = (name: string): Date => {
    const value = new Date(text(name));
    if (Number.isNaN(value.getTime())) throw new TypeError(`${name} is not an instant`);
    return value;
  };
  if (typeof d["attempt"] !== "number") throw new TypeError("attempt is not a number");
  return {
    webhookId,
    namespace: text("namespace"),
    timerId: text("timerId"),
    ...(d["scheduleId"] === undefined ? {} : { scheduleId: text("scheduleId") }),
    executeAt: instant("executeAt"),
    scheduledFor: instant("scheduledFor"),
    attempt: d["attempt"],
    generation: text("generation"),
    correlationId: text("correlationId"),
    payload: d["payload"] ?? null,
  };
}

function lowered(headers: HeaderInput): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  const lower: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (value !== undefined) lower[name.toLowerCase()] = typeof value === "string" ? value : value.join(",");
  }
  return lower;
}

function verified(webhook: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
