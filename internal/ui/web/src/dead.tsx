import { useEffect, useState } from "preact/hooks";
import { ApiError, call, callFull, may, type MatchingPage, type Timer, type TimerPage } from "./api";
import { Bulk, type BulkAction } from "./act";
import { counted, hostOf, inputTime, instant, number, time } from "./format";
import { Lazy, TimerTable } from "./timers";
import { Button, Card, Empty, ErrorBox, Page, Badge } from "./parts";
import { change, go, live, namespace, route, link } from "./state";

// The timers that are read at first, and by each "Read more".
const portion = 5000;
const pageSize = 500;
const shownOf = 20;

interface Group { host: string; hasURL: boolean; error: string; status: number | undefined; timers: Timer[]; count: number; oldest: string; newest: string }

interface Read { groups: Map<string, Group>; read: number; cursor: string | undefined }

// add puts timers into their groups. Only the first ones of a group are kept.
function add(to: Read, timers: Timer[]): void {
  for (const t of timers) {
    const host = t.callbackUrl ? hostOf(t.callbackUrl) : t.topic ? `topic ${t.topic}` : "event";
    const error = t.lastError ?? "";
    const key = `${t.callbackUrl ? "u" : "e"}\0${t.callbackUrl ? host : ""}\0${error}`;
    let g = to.groups.get(key);
    if (!g) {
      g = { host, hasURL: Boolean(t.callbackUrl), error, status: t.lastStatusCode, timers: [], count: 0, oldest: t.executeAt, newest: t.executeAt };
      to.groups.set(key, g);
    }
    g.count++;
    if (g.timers.length < shownOf) g.timers.push(t);
    if (t.executeAt < g.oldest) g.oldest = t.executeAt;
    if (t.executeAt > g.newest) g.newest = t.executeAt;
  }
  to.read += timers.length;
}

// Members shows the first timers of a group, as they are now: they may have been retried since.
function Members({ of: g }: { of: Group }) {
  const [present, setPresent] = useState<Timer[]>(g.timers);
  useEffect(() => {
    const abort = new AbortController();
    const get = (t: Timer) => call<Timer>("timers/get", { namespace: t.namespace, id: t.id }, abort.signal)
      .then((newest) => newest.generation === t.generation ? t : { ...t, status: newest.status }, () => t);
    void Promise.all(g.timers.map(get)).then((all) => { if (!abort.signal.aborted) setPresent(all); });
    return () => { abort.abort(); };
  }, [g.timers]);
  return <TimerTable timers={present} caption={`Dead timers of ${g.host}`} />;
}

export function Dead() {
  const q = route.value.query;
  const correlationId = q.get("correlationId") ?? "", dueFrom = q.get("dueFrom") ?? "", dueBefore = q.get("dueBefore") ?? "";
  const ns = namespace.value;
  const filter = { namespace: ns, status: "dead", correlationId: correlationId || undefined, dueFrom: dueFrom || undefined, dueBefore: dueBefore || undefined };
  const key = JSON.stringify(filter);
  const [state, setState] = useState<Read>();
  const [error, setError] = useState<ApiError>();
  const [reading, setReading] = useState(true);
  const [open, setOpen] = useState<string>();
  const [bulk, setBulk] = useState<BulkAction | null>(null);
  const [turn, setTurn] = useState(0);

  const read = async (from: Read | undefined, abort: AbortSignal, quiet = false) => {
    const next: Read = from ? { groups: new Map([...from.groups].map(([k, g]) => [k, { ...g, timers: [...g.timers] }])), read: from.read, cursor: from.cursor } : { groups: new Map(), read: 0, cursor: undefined };
    const until = next.read + portion;
    setReading(true);
    try {
      do {
        const page = await call<TimerPage>("timers/list", { ...filter, limit: pageSize, cursor: next.cursor }, abort);
        add(next, page.timers);
        next.cursor = page.nextCursor;
        if (!quiet) setState({ ...next });
      } while (next.cursor && next.read < until);
      setState({ ...next });
      setError(undefined);
    } catch (cause) {
      if (abort.aborted) return;
      setError(cause instanceof ApiError ? cause : new ApiError(0, "UNEXPECTED", String(cause)));
    }
    setReading(false);
  };
  useEffect(() => {
    const abort = new AbortController();
    void read(undefined, abort.signal, turn > 0);
    return () => { abort.abort(); };
  }, [key, turn]);
  useEffect(() => {
    if (live.value !== "on" || bulk || (state?.read ?? 0) >= portion) return undefined;
    const timeout = setTimeout(() => { if (!document.hidden) setTurn((n) => n + 1); }, 10_000);
    return () => { clearTimeout(timeout); };
  }, [turn, live.value, bulk, state?.read]);

  const act = (kind: "retry" | "purge", group?: Group) => {
    const own = group
      ? { ...filter, callbackHost: group.hasURL ? group.host : "", lastError: group.error || undefined }
      : { ...filter };
    const path = `timers/${kind}-matching`;
    setBulk({
      title: kind === "retry" ? "Retry dead timers" : "Delete dead timers", verb: kind === "retry" ? "Retry" : "Delete",
      done: kind === "retry" ? "started again" : "removed from history", path, filter: own, danger: kind === "purge",
      describe: group
        ? <>All dead timers of <strong>{ns}</strong> that call <strong>{group.host}</strong> and failed with <q>{group.error}</q>.</>
        : <>All dead timers of <strong>{ns}</strong> that this page’s filter selects, also those that were not read yet.</>,
      count: async (abort, progress) => {
        let n = 0, skipped = 0;
        for (let cursor: string | undefined; ;) {
          const { data } = await callFull<MatchingPage>(path, { ...own, dryRun: true, limit: 1000, cursor }, abort);
          progress(n += data.applied);
          skipped += data.skipped;
          cursor = data.nextCursor;
          if (!cursor) return { n, more: false, skipped };
        }
      },
    });
  };
  const writable = may("write", ns);
  const groups = state ? [...state.groups].sort(([, a], [, b]) => b.count - a.count) : [];
  const filtered = Boolean(correlationId || dueFrom || dueBefore);
  const actions = writable && groups.length > 0 && (
    <>
      <Button kind="primary" onClick={() => { act("retry"); }}>Retry all…</Button>
      <Button kind="danger-ghost" onClick={() => { act("purge"); }}>Delete all…</Button>
    </>
  );
  return (
    <Page title="Dead letters" actions={actions}>
      <form class="filters" role="search" onSubmit={(e) => { e.preventDefault(); }}>
        <Lazy label="Correlation id" value={correlationId} set={(value) => { change({ correlationId: value }); }} />
        <Lazy label="Planned from" type="datetime-local" value={inputTime(dueFrom)} set={(value) => { change({ dueFrom: instant(value) }); }} />
        <Lazy label="Planned before" type="datetime-local" value={inputTime(dueBefore)} set={(value) => { change({ dueBefore: instant(value) }); }} />
        {filtered && <Button kind="ghost" onClick={() => { go(["dead"]); }}>Clear</Button>}
      </form>
      {error && <ErrorBox error={error} again={() => { setTurn((n) => n + 1); }} />}
      {!state && reading && <div class="skeleton" role="status"><span class="sr">Loading</span></div>}
      {state && groups.length === 0 && !reading && (
        <Card><Empty title={filtered ? "No dead timer matches." : "No timer is dead."}>
          {filtered ? "Change the filter, or clear it." : <>Timers whose retry policy has ended appear here, with their payload, for the dead retention of the namespace. <a href={link(["timers"], { status: "retrying" })}>Timers that are retried</a></>}
        </Empty></Card>
      )}
      {state && groups.length > 0 && (
        <>
          <p class="muted" role="status">{counted(state.read, "dead timer")} in {counted(groups.length, "group")}, by host and reason{state.cursor && ", and more"}.
            A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends.</p>
          <div class="groups">
            {groups.map(([k, g]) => (
              <section class="card group" key={k} aria-label={`${g.host}: ${g.error}`}>
                <div class="group-head">
                  <span class="group-count">{number(g.count)}</span>
                  <div class="group-text">
                    <div><strong>{g.host}</strong> {g.status ? <Badge kind="dead">HTTP {g.status}</Badge> : null}</div>
                    <div class="reason">{g.error || "no reason"}</div>
                    <div class="muted">planned {time(g.oldest)}{g.newest !== g.oldest && ` to ${time(g.newest)}`}</div>
                  </div>
                  <div class="actions">
                    {writable && <Button kind="small" onClick={() => { act("retry", g); }}>Retry…</Button>}
                    {writable && <Button kind="small danger-ghost" onClick={() => { act("purge", g); }}>Delete…</Button>}
                    <Button kind="small ghost" aria-expanded={open === k} onClick={() => { setOpen(open === k ? undefined : k); }}>{open === k ? "Hide" : "Show"} timers</Button>
                  </div>
                </div>
                {open === k && <Members of={g} />}
                {open === k && g.count > g.timers.length && <p class="muted pad">The first {g.timers.length} of {number(g.count)}.</p>}
              </section>
            ))}
          </div>
          {state.cursor && <p><Button disabled={reading} onClick={() => { void read(state, new AbortController().signal); }}>{reading ? "Reading…" : "Read more"}</Button></p>}
        </>
      )}
      {bulk && <Bulk action={bulk} close={() => { setBulk(null); }} after={() => { setTurn((n) => n + 1); }} />}
    </Page>
  );
}
