// Dialogs that change something: one request, or all timers that a filter selects.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, asError, call, callFull, type MatchingPage, type TimerPage } from "./api";
import { counted, number } from "./format";
import { Button, Dialog, ErrorBox } from "./parts";
import { notify } from "./state";

// useGone returns whether the component was removed, for what follows a request.
export function useGone(): { readonly current: boolean } {
  const gone = useRef(false);
  useEffect(() => () => { gone.current = true; }, []);
  return gone;
}

// Confirm asks before one request. done is the notice after it. If the dialog was closed before the answer, only a notice follows.
export function Confirm({ title, children, verb, danger, path, body, done, close, after }: {
  title: string; children?: ComponentChildren; verb: string; danger?: boolean; path: string; body: () => object | string; done: string;
  close: () => void; after: () => void;
}) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const gone = useGone();
  const send = async () => {
    const request = body();
    if (typeof request === "string") {
      setError(new ApiError(0, "INCOMPLETE", request));
      return;
    }
    setBusy(true);
    try {
      const { late } = await callFull(path, request);
      notify(late ? `${done} An earlier delivery may have been sent.` : done, late ? "warn" : "ok");
      if (gone.current) return;
      close();
      after();
    } catch (cause) {
      const e = asError(cause);
      if (gone.current) notify(`${title}: ${e.message}`, "warn");
      setError(e);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {children}
        {error && <ErrorBox error={error} />}
        {error && /^(GENERATION|VERSION)_CONFLICT$/.test(error.code) && <p class="hint">It has changed since it was shown. Close this dialog; the page shows the present state.</p>}
        <div class="dialog-foot">
          <Button onClick={close}>Cancel</Button>
          <button type="submit" class={`button ${danger ? "danger" : "primary"}`} disabled={busy}>{busy ? "Sending…" : verb}</button>
        </div>
      </form>
    </Dialog>
  );
}

// Counted is the result of a dry run; skipped are those that match and would not be changed.
export interface Counted { n: number; more: boolean; skipped?: number }

export interface BulkAction {
  title: string;
  verb: string; // "Retry"
  done: string; // "retried"
  path: string; // timers/retry-matching
  // filter is the body of every request, without limit and cursor.
  filter: Record<string, unknown>;
  describe: ComponentChildren;
  danger?: boolean;
  // count returns how many timers match, for the dry run; at least so many if more is set.
  count: (abort: AbortSignal, progress: (n: number) => void) => Promise<Counted>;
}

interface Progress { matched: number; applied: number; late: number; skipped: number; pages: number }

const pageSize = 250;

// dryRun returns the count of an action whose request has a dry run.
export function dryRun(path: string, filter: Record<string, unknown>): BulkAction["count"] {
  return async (abort, progress) => {
    let n = 0, skipped = 0;
    for (let cursor: string | undefined; ;) {
      const { data } = await callFull<MatchingPage>(path, { ...filter, dryRun: true, limit: pageSize, cursor }, abort);
      progress(n += data.applied);
      skipped += data.skipped;
      cursor = data.nextCursor;
      if (!cursor) return { n, more: false, skipped };
    }
  };
}

// countEach counts what a filter selects, for each of several statuses: by the count of the API, or by a walk if the count does not have the
// criterion.
export async function countEach(
  filter: { namespace: string; correlationId?: string | undefined; dueFrom?: string | undefined; dueBefore?: string | undefined },
  statuses: (string | undefined)[], abort: AbortSignal, progress: (n: number) => void = () => undefined,
): Promise<Counted> {
  let n = 0, more = false;
  for (const status of statuses) {
    if (!filter.correlationId) {
      const found = await call<{ count: number; truncated: boolean }>("timers/count", { ...filter, status }, abort);
      n += found.count;
      more ||= found.truncated;
      continue;
    }
    let cursor: string | undefined;
    do {
      const page: TimerPage = await call("timers/list", { ...filter, status, limit: 1000, cursor }, abort);
      progress(n += page.timers.length);
      cursor = page.nextCursor;
    } while (cursor);
  }
  return { n, more };
}

// Bulk counts what a filter selects, and then changes it page by page, until the end, or until it is cancelled or closed.
export function Bulk({ action, close, after }: { action: BulkAction; close: () => void; after: () => void }) {
  const [state, setState] = useState<"ask" | "counting" | "counted" | "running" | "ended" | "cancelled" | "failed">("ask");
  const [count, setCount] = useState<Counted>();
  const [seen, setSeen] = useState(0);
  const [progress, setProgress] = useState<Progress>({ matched: 0, applied: 0, late: 0, skipped: 0, pages: 0 });
  const [error, setError] = useState<ApiError>();
  const abort = useRef<AbortController>(new AbortController());
  const cursor = useRef<string | undefined>(undefined);
  const cancelled = useRef(false);
  const gone = useGone();
  useEffect(() => () => {
    cancelled.current = true;
    abort.current.abort();
  }, []);

  const tryOut = async () => {
    setState("counting");
    setError(undefined);
    abort.current = new AbortController();
    try {
      setCount(await action.count(abort.current.signal, setSeen));
      setState("counted");
    } catch (cause) {
      if (abort.current.signal.aborted) return;
      setError(asError(cause));
      setState("ask");
    }
  };
  const run = async () => {
    setState("running");
    setError(undefined);
    cancelled.current = false;
    let total = progress;
    try {
      do {
        // A page is never aborted, because its outcome would be unknown. Cancel takes effect after it.
        const { data } = await callFull<MatchingPage>(action.path, { ...action.filter, limit: pageSize, cursor: cursor.current });
        cursor.current = data.nextCursor;
        total = {
          matched: total.matched + data.matched, applied: total.applied + data.applied, late: total.late + (data.late ?? 0),
          skipped: total.skipped + data.skipped, pages: total.pages + 1,
        };
        setProgress(total);
      } while (cursor.current && !cancelled.current);
      setState(cursor.current ? "cancelled" : "ended");
      if (gone.current) notify(`${action.title}: ${cursor.current ? "stopped, " : ""}${summary(total)}.`, cursor.current ? "warn" : "ok");
    } catch (cause) {
      setError(asError(cause));
      setState("failed");
      if (gone.current) notify(`${action.title}: failed, ${summary(total)}: ${asError(cause).message}`, "warn");
    }
    after();
  };
  const total = count && !count.more ? count.n + (count.skipped ?? 0) : undefined;
  const summary = (p: Progress) => `${counted(p.applied, "timer")} ${action.done}` +
    (p.late ? ` (an earlier delivery of ${number(p.late)} may have been sent)` : "") + (p.skipped ? `, ${number(p.skipped)} skipped` : "");
  return (
    <Dialog title={action.title} close={close}>
      <p>{action.describe}</p>
      {state === "counting" && <p role="status">Counting… {seen > 0 && number(seen)}</p>}
      {state === "counted" && count && (
        <p role="status" class="callout">Dry run: {count.more ? "at least " : ""}{counted(count.n, "timer")} would be {action.done}{count.skipped ? `, ${number(count.skipped)} would be skipped, because they were retried before` : ""}. Nothing was changed.</p>
      )}
      {progress.pages > 0 && (
        <div class="progress-wrap">
          {(state === "running" || total !== undefined) && (
            <progress max={total || 1} value={total === undefined ? undefined : count?.skipped === undefined ? progress.applied : progress.matched}
              aria-label="Progress" />
          )}
          <p role="status">
            {state === "running" ? "Working: " : state === "ended" ? "Finished: " : state === "cancelled" ? "Cancelled: " : "Stopped: "}{summary(progress)}
            {state === "cancelled" && ". The others were not changed."}
          </p>
        </div>
      )}
      {error && <ErrorBox error={error} />}
      <div class="dialog-foot">
        {state === "running"
          ? <Button kind="danger" onClick={() => { cancelled.current = true; }}>Cancel</Button>
          : <Button onClick={close}>Close</Button>}
        {(state === "ask" || state === "counted") && <Button onClick={() => { void tryOut(); }}>Dry run</Button>}
        {(state === "ask" || state === "counted") && (
          <Button kind={action.danger ? "danger" : "primary"} onClick={() => { void run(); }}>
            {action.verb} {count ? (count.more ? "all" : number(count.n)) : "all"}
          </Button>
        )}
        {(state === "cancelled" || state === "failed") && <Button kind="primary" onClick={() => { void run(); }}>Continue</Button>}
      </div>
    </Dialog>
  );
}
