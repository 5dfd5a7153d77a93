// The client of the public API. All paths are relative to the page, so that the UI works below any prefix.
import { signal } from "@preact/signals";

const base = new URL("../", document.baseURI);

// settings are those of the server for the UI, in the page's meta element.
const meta = document.querySelector<HTMLMetaElement>('meta[name="timerbus"]');
export const settings = {
  version: meta?.content ?? "",
  readOnly: meta?.dataset.readOnly === "true",
  hidePayloads: meta?.dataset.hidePayloads === "true",
  // signIn is the sign-in with an identity provider; its clientID is "" if there is none.
  signIn: {
    issuer: meta?.dataset.issuer ?? "", audience: meta?.dataset.audience ?? "", clientID: meta?.dataset.clientId ?? "",
    scopes: meta?.dataset.scopes ?? "",
  },
};

export interface Grant { verbs: string[]; namespaces: string[] }
export interface Caller { name: string; grants: Grant[] }

export class ApiError extends Error {
  constructor(
    readonly status: number, readonly code: string, message: string,
    readonly retryAfter = 0, // ms
  ) {
    super(message);
  }
}

export function asError(cause: unknown): ApiError {
  return cause instanceof ApiError ? cause : new ApiError(0, "UNEXPECTED", String(cause));
}

const tokenKey = "timerbus-token";
// token is the credential that the user has entered. It ends with the tab.
export const token = signal(sessionStorage.getItem(tokenKey) ?? "");
export const caller = signal<Caller | null>(null);
// signIn is why a credential is needed; null if none is.
export const signIn = signal<string | null>(null);

export function setToken(value: string): void {
  token.value = value;
  if (value) sessionStorage.setItem(tokenKey, value);
  else sessionStorage.removeItem(tokenKey);
}

// clockOffset is the server's clock minus the browser's, in ms. The server sends whole seconds.
export const clockOffset = signal(0);

async function send(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token.value) headers.set("Authorization", `Bearer ${token.value}`);
  let response: Response;
  try {
    response = await fetch(new URL(path, base), { ...init, headers, cache: "no-store" });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new ApiError(0, "UNREACHABLE", "The service cannot be reached: it may be stopped, or the network is down.");
  }
  const date = Date.parse(response.headers.get("Date") ?? "");
  if (!Number.isNaN(date)) {
    const offset = date + 500 - Date.now();
    clockOffset.value = Math.abs(offset) > 2000 ? offset : 0;
  }
  return response;
}

async function failure(response: Response): Promise<ApiError> {
  const { status, statusText } = response;
  const e = await response.json().catch(() => null) as { error?: unknown; message?: unknown } | null;
  const retryAfter = Number(response.headers.get("Retry-After")) * 1000 || 0;
  return new ApiError(status, String(e?.error ?? `HTTP_${status}`), String(e?.message ?? `The server answered ${status} ${statusText}.`), retryAfter);
}

interface Raw { rawJSON?: (text: string) => unknown }

// parseJSON parses JSON. Numbers that a float would change keep their text, so that payloads are shown and sent as they are. Browsers
// without JSON.rawJSON round them.
export function parseJSON(text: string): unknown {
  const { rawJSON } = JSON as unknown as Raw;
  if (!rawJSON) return JSON.parse(text);
  const keep = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" && context?.source !== undefined && context.source.length > 15 ? rawJSON(context.source) : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

// payloadOf parses the text of a payload.
export function payloadOf(text: string): { value?: unknown; error?: string } {
  if (!text.trim()) return {};
  try {
    return { value: parseJSON(text) };
  } catch (cause) {
    return { error: `The payload is not JSON: ${(cause as Error).message}` };
  }
}

export interface Answer<T> { data: T; late: boolean }

// early is the request that was sent before the page that needs its answer was rendered.
let early: { path: string; body: string; answer: Promise<Response> } | undefined;

// during sends a request, calls render, and gives the answer to the page that sends the same request meanwhile.
export function during(path: string, body: object, render: () => void): void {
  early = { path, body: JSON.stringify(body), answer: post(path, body) };
  early.answer.catch(() => undefined);
  render();
  early = undefined;
}

// post sends a request whose answer is a success, or throws an ApiError.
export async function post(path: string, body: object, abort?: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  if (early?.path === path && early.body === JSON.stringify(body)) {
    const { answer } = early;
    early = undefined;
    return answer;
  }
  const response = await send("api/v1/" + path, {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers }, signal: abort ?? null,
  });
  if (!response.ok) {
    const e = await failure(response);
    if (e.status === 401 && !abort?.aborted) signIn.value = e.message; // an aborted answer has no reason
    throw e;
  }
  return response;
}

// callFull sends a request. late means that an earlier delivery of the timer may have been sent.
export async function callFull<T>(path: string, body: object, abort?: AbortSignal): Promise<Answer<T>> {
  const response = await post(path, body, abort);
  const text = await response.text();
  return { data: (text ? parseJSON(text) : undefined) as T, late: response.status === 202 };
}

export async function call<T>(path: string, body: object, abort?: AbortSignal): Promise<T> {
  return (await callFull<T>(path, body, abort)).data;
}

export interface Health {
  status: string;
  reasons?: string[];
  degraded?: { part: string; reason: string; since: string }[];
}

// health returns the readiness of the process, also if it is not ready. The answers of a proxy have no status and no reasons.
export async function health(abort: AbortSignal): Promise<Health> {
  const response = await send("readyz", { signal: abort });
  const found = await response.clone().json().catch(() => null) as Health | null;
  if (found && (response.ok ? typeof found.status === "string" : response.status === 503 && found.reasons?.length)) return found;
  throw await failure(response);
}

export async function metricsText(abort: AbortSignal): Promise<string> {
  const response = await send("metrics", { signal: abort });
  if (!response.ok) throw await failure(response);
  return response.text();
}

// identify asks who the caller is.
export async function identify(): Promise<void> {
  const found = await call<Caller>("caller/get", {});
  caller.value = found;
  signIn.value = null;
}

function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(name);
}

export type Verb = "read" | "write" | "admin";

function granted(verb: Verb, test: (pattern: string) => boolean): boolean {
  return caller.value?.grants.some((g) => g.verbs.includes(verb) && g.namespaces.some(test)) ?? false;
}

// may reports whether the caller may do something in a namespace. In read-only mode nobody may change anything.
export function may(verb: Verb, namespace: string): boolean {
  return (verb === "read" || !settings.readOnly) && granted(verb, (pattern) => matches(pattern, namespace));
}

export function mayEverywhere(verb: Verb): boolean {
  return (verb === "read" || !settings.readOnly) && granted(verb, (pattern) => pattern === "*");
}

// apiURL is the address of the API for people, without the path.
export const apiURL = base.href.replace(/\/$/, "");

export type Status = "scheduled" | "retrying" | "parked" | "paused" | "done" | "dead";

export interface RetryPolicy {
  maxAttempts: number; maxAttemptsDuration: string; initialInterval: string; backoffMultiplier: number; maxInterval: string;
}

export interface Timer {
  namespace: string; id: string; uuid: string; status: Status; executeAt: string; dueAt: string; deliver: string;
  executeAtLocal?: string; timeZone?: string; callbackUrl?: string; headers?: Record<string, string>; topic?: string; key?: string;
  request?: { method?: string; body?: string; bodyBase64?: string; contentType?: string; reschedule?: boolean };
  window?: string; expireAfter?: string; expiresAt?: string; pause?: { by?: string; note?: string; at: string };
  flowKey?: string; onDone?: string; onDead?: string; callbackTimeout: string; retryPolicy: RetryPolicy; payload?: unknown;
  correlationId: string; generation: string; attempts: number; createdAt: string; updatedAt: string; executedAt?: string;
  lastStatusCode?: number; lastError?: string;
}

export interface TimerPage { timers: Timer[]; nextCursor?: string }

export interface Attempt {
  generation: string; attempt: number; outcome: "done" | "rescheduled" | "failed" | "dead" | "expired"; executeAt: string;
  nextAt?: string; startedAt: string; finishedAt: string; statusCode?: number; error?: string;
}

export interface MatchingPage { matched: number; applied: number; late?: number; skipped: number; nextCursor?: string }

export interface Spec { cron?: string; rrule?: string; dates?: string[]; every?: string; anchor?: string }

export interface Schedule {
  namespace: string; id: string; status: "active" | "paused" | "parked" | "ended"; version: number; nextAt?: string; created: number;
  recent?: string[]; specs: Spec[]; exclude?: object[]; timeZone: string; start?: string; end?: string; gap: string; repeated: string; count?: number;
  overlap: string; catchUp: string; catchUpWindow?: string; pauseOnDead?: number; timer: Record<string, unknown>;
  pause?: { by?: string; note?: string; at: string }; createdAt: string; updatedAt: string;
}

export interface Occurrence { at: string; local: string; remark?: "gap" | "first" | "second"; timerId?: string }

export interface Decision { at: string; decidedAt: string; decision: string; reason?: string; timerId?: string; nextAt?: string }

export interface NamespaceSettings {
  retryPolicy: RetryPolicy; callbackTimeout: string; historyRetention: string; deadRetention: string; keepPayload?: string;
  headers?: Record<string, string>; finalStatuses?: number[]; secrets?: { id: string; createdAt: string; expiresAt?: string }[];
  tls?: { ca?: string; certificate?: string }; callbackAuth?: { type: string; tokenUrl?: string; clientId?: string; username?: string };
  eventTopics?: string[]; hostConcurrency: number; flows?: FlowLimit[]; onDone?: string; onDead?: string; results: string;
  quota?: { maxPending?: number; createsPerSecond?: number; maxPayloadBytes?: number };
}

export interface Namespace {
  name: string; numShards: number; settings: NamespaceSettings; version: number; createdAt: string; updatedAt: string; deletingSince?: string;
}

export interface FlowLimit { pattern: string; rate?: { count: number; per: string; burst?: number }; concurrency?: number }

export interface Flow { flowKey: string; limit?: FlowLimit; running: number; waiting: number; backlog: number; dispatchers: number }

export interface Target { target: string; concurrency: number; running: number; waiting: number; circuitOpen: boolean }

export interface Shard {
  shard: number; partition: number; version: number; held: boolean; node?: string; claimedAt?: string; watermark?: string;
  nextDueAt?: string; overdueFor?: string;
}

export interface Forecast { from: string; to: string; counts: number[]; truncated: boolean; completeBefore: string }
