// Polls while the page is visible, with a growing pause after failures.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asError, type ApiError } from "./api";
import { live } from "./state";

const longest = 60_000;

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
// key is not kept. A costly request, for which the server counts, is repeated less often the longer it takes.
export function usePoll<T>(key: string, interval: number, load: (abort: AbortSignal) => Promise<T>, costly = false): Polled<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: ApiError }>({ key: "" });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // A layout effect, because others begin after the page is painted.
  useLayoutEffect(() => {
    if (key === "") return undefined;
    const abort = new AbortController();
    let timeout = 0, failures = 0, busy = false, due = 0;
    const wait = () => {
      clearTimeout(timeout);
      if (live.value === "on") timeout = window.setTimeout(() => { void read(); }, Math.max(0, due - performance.now()));
    };
    const read = async () => {
      if (busy || abort.signal.aborted) return;
      if (document.hidden && timeout !== 0) return; // visibilitychange continues
      busy = true;
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
      }
      const least = costly ? Math.max(interval, costlyShare * (performance.now() - begun)) : interval;
      due = performance.now() + Math.max(least, pause);
      wait();
    };
    const seen = () => {
      if (document.hidden || busy) return;
      if (!costly) due = 0;
      wait();
    };
    document.addEventListener("visibilitychange", seen);
    void read();
    const unsubscribe = live.subscribe(seen);
    return () => {
      abort.abort();
      clearTimeout(timeout);
      unsubscribe();
      document.removeEventListener("visibilitychange", seen);
    };
  }, [key, interval, turn]);
  const current = state.key === key ? state : { key };
  return {
    data: current.data, error: current.error, loading: key !== "" && current.data === undefined && current.error === undefined,
    again: () => { setTurn((n) => n + 1); },
  };
}
