// Follows the changes of the namespace by server-sent events while the page is visible. Polls continue beside it: for what has no events,
// and because another process may change timers without this stream.
import { effect, signal } from "@preact/signals";
import { asError, caller, may, post, signIn } from "./api";
import { live, namespace } from "./state";

export interface Change { type: string; timerId?: string; scheduleId?: string; status?: string }

// The changes of any timer, and of the dead timers in the history.
export const changesTimers = (c: Change) => c.timerId !== undefined;
export const changesDead = (c: Change) => changesTimers(c) && (c.type === "dead" || c.type === "purged");

type Listener = (change: Change | undefined) => void;
const listeners = new Set<Listener>();

// onChange calls a function at each change, and without one if any number of changes may have been missed.
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

function emit(change?: Change): void {
  for (const listener of listeners) listener(change);
}

// following is whether the stream is open, and has all changes or only some.
export const following = signal<"no" | "some" | "all">("no");

// The stream begins when the requests of the page are on their way.
const start = 250, firstPause = 1000, longestPause = 60_000;
// silence is three heartbeats of the server. A stream that is silent for longer is broken, or a proxy holds it back.
const silence = 45_000;
// answerTime is the longest wait for the headers of the answer, which the server sends immediately.
const answerTime = 10_000;

// position is that of the last event, to continue after an interruption.
let position = { namespace: "", id: "" };

interface Event { name: string; data: string; id: string }

// events yields the events of a body. The data of an event is one line.
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const reader = body.getReader(), decoder = new TextDecoder();
  const cancel = () => { void reader.cancel().catch(() => undefined); };
  let rest = "", event: Event = { name: "", data: "", id: "" }, silent = 0;
  try {
    for (;;) {
      silent = window.setTimeout(cancel, silence);
      const { done, value } = await reader.read();
      clearTimeout(silent);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          yield event;
          event = { name: "", data: "", id: "" };
        } else if (line.startsWith("event: ")) {
          event.name = line.slice(7);
        } else if (line.startsWith("data: ")) {
          event.data = line.slice(6);
        } else if (line.startsWith("id: ")) {
          event.id = line.slice(4);
        }
      }
    }
  } finally {
    clearTimeout(silent);
    cancel();
  }
}

// readOnce reads one stream until it ends.
async function readOnce(ns: string, abort: AbortSignal): Promise<void> {
  const resumed = position.namespace === ns && position.id !== "";
  const late = new AbortController(), timeout = setTimeout(() => { late.abort(); }, answerTime);
  const response = await post("events/stream", { namespace: ns }, AbortSignal.any([abort, late.signal]), resumed ? { "Last-Event-ID": position.id } : {})
    .finally(() => { clearTimeout(timeout); });
  if (!response.body) return;
  for await (const { name, data, id } of events(response.body)) {
    if (abort.aborted) return;
    if (id) position = { namespace: ns, id };
    if (name === "open") {
      following.value = (JSON.parse(data) as { complete: boolean }).complete ? "all" : "some";
      if (!resumed) emit();
    } else if (name === "reset") {
      emit();
    } else if (name === "change") {
      emit(JSON.parse(data) as Change);
    }
  }
}

// follow keeps a stream open. It gives up if the service refuses it: pages then poll.
async function follow(ns: string, abort: AbortSignal): Promise<void> {
  await sleep(start, abort);
  for (let failures = 0; !abort.aborted;) {
    let pause = firstPause;
    try {
      await readOnce(ns, abort);
      failures = 0;
    } catch (cause) {
      if (abort.aborted) return;
      const error = asError(cause);
      failures = following.value === "no" ? failures + 1 : 0;
      pause = Math.max(error.retryAfter, Math.min(longestPause, firstPause * 2 ** failures));
      if (error.status === 403 || error.status === 404) pause = longestPause; // the right or the namespace may come
      else if (error.status >= 400 && error.status < 500 && error.status !== 429) return;
    }
    if (abort.aborted) return;
    lose();
    await sleep(pause * (1 + Math.random()), abort);
  }
}

// sleep waits for ms, or until abort.
function sleep(ms: number, abort: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timeout = setTimeout(resolve, ms);
    abort.addEventListener("abort", () => { clearTimeout(timeout); resolve(); }, { once: true });
  });
}

// lose makes polls continue as without a stream.
function lose(): void {
  if (following.value === "no") return;
  following.value = "no";
  emit();
}

const visible = signal(!document.hidden);
document.addEventListener("visibilitychange", () => { visible.value = !document.hidden; });

// A hidden page has no stream, because a browser opens only few connections to a server, for all its tabs.
effect(() => {
  const ns = namespace.value;
  if (live.value !== "on" || !visible.value || signIn.value !== null || !caller.value || !may("read", ns)) return undefined;
  const abort = new AbortController();
  void follow(ns, abort.signal);
  return () => {
    abort.abort();
    following.value = "no";
  };
});
