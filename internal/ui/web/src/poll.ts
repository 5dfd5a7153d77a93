// Polls while the page is visible, with a growing pause after failures. What has events is read when it changes, and polled slowly.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asError, type ApiError } from "./api";
import { live } from "./state";
import { following, onChange, type Change } from "./stream";

const longest = 60_000;
// While a stream has all changes, what it concerns is polled at this interval. Changes make it be read after shortest, or the interval if
// that is less.
const followed = 20_000, shortest = 3000;

export interface Polled<T> {
  data: T | undefined;
  error: ApiError | undefined;
  loading: boolean;
  // again reads now.
  again: () => void;
}

// costlyShare is how long a costly request is not repeated, as a multiple of its duration.
const costlyShare = 100;

// usePoll calls load at once, whenever key changes, and every interval ms afterwards; never while key is empty. The data of another
// key is not kept. A costly request, for which the server counts, is repeated less often the longer it takes. Which changes concern the
// data is what concerns returns; without it the data has no events.
export function usePoll<T>(
  key: string, interval: number, load: (abort: AbortSignal) => Promise<T>, costly = false, concerns?: (change: Change) => boolean,
): Polled<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: ApiError }>({ key: "" });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const concerned = useRef(concerns);
  concerned.current = concerns;
  // A layout effect, because others begin after the page is painted.
  useLayoutEffect(() => {
    if (key === "") return undefined;
    const abort = new AbortController();
    // due is when the next read begins, early when a change may make it begin, and stale whether there was one during the read.
    let timeout = 0, failures = 0, busy = false, due = 0, early = 0, stale = false;
    const wait = () => {
      clearTimeout(timeout);
      if (live.value === "on") timeout = window.setTimeout(() => { void read(); }, Math.max(0, due - performance.now()));
    };
    const read = async () => {
      if (busy || abort.signal.aborted) return;
      if (document.hidden && timeout !== 0) return; // visibilitychange continues
      busy = true;
      stale = false;
      let pause = 0;
      const begun = performance.now();
      try {
        const data = await latest.current(abort.signal);
        if (abort.signal.aborted) return;
        failures = 0;
        setState({ key, data });
      } catch (cause) {
        if (abort.signal.aborted) return;
        failures++;
        const error = asError(cause);
        pause = Math.max(error.retryAfter, Math.min(longest, interval * 2 ** failures));
        setState((old) => old.key === key && old.data !== undefined ? { key, data: old.data, error } : { key, error });
        if (error.status >= 400 && error.status < 500 && error.status !== 429) return; // the same request fails again
      } finally {
        busy = false;
        const cost = costly ? costlyShare * (performance.now() - begun) : 0;
        const usual = concerned.current && following.value === "all" && pause === 0 ? Math.max(interval, followed) : interval;
        early = performance.now() + Math.max(cost, Math.min(interval, shortest), pause);
        due = stale ? early : performance.now() + Math.max(cost, usual, pause);
      }
      wait();
    };
    const seen = () => {
      if (document.hidden || busy) return;
      if (!costly) due = 0;
      wait();
    };
    const changed = (change?: Change) => {
      if (!concerned.current || change && !concerned.current(change)) return;
      stale = true;
      if (busy || document.hidden) return;
      due = Math.min(due, early);
      wait();
    };
    document.addEventListener("visibilitychange", seen);
    const ignore = onChange(changed);
    void read();
    const unsubscribe = live.subscribe(seen);
    return () => {
      abort.abort();
      clearTimeout(timeout);
      unsubscribe();
      ignore();
      document.removeEventListener("visibilitychange", seen);
    };
  }, [key, interval, turn]);
  const current = state.key === key ? state : { key };
  return {
    data: current.data, error: current.error, loading: key !== "" && current.data === undefined && current.error === undefined,
    again: () => { setTurn((n) => n + 1); },
  };
}
