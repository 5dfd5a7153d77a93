import { useEffect, useRef, useState } from "preact/hooks";
import { asError, call, may, type ApiError, type Timer, type TimerPage } from "./api";
import { Bulk, dryRun, type BulkAction } from "./act";
import { counted, hostOf, inputTime, inputZone, instant, number, time } from "./format";
import { Lazy, TimerTable } from "./timers";
import { Button, Card, Empty, ErrorBox, Page, Badge } from "./parts";
import { usePoll } from "./poll";
import { change, go, namespace, route, link } from "./state";
import { changesDead } from "./stream";

// The timers that are read at first, and by each "Read more".
const portion = 5000;
const pageSize = 500;
const shownOf = 20;
const shownGroups = 100;

// Group is what callbackHost and lastError select: the timers without a URL have the host "", also if their topics differ.
interface Group { host: string; error: string; status: number | undefined; timers: Timer[]; count: number; oldest: string; newest: string }

interface Read { groups: Map<string, Group>; read: number; cursor: string | undefined }

// add puts timers into their groups. Only the first ones of a group are kept.
function add(to: Read, timers: Timer[]): void {
  for (const t of timers) {
    const host = t.callbackUrl ? hostOf(t.callbackUrl) : "";
    const error = t.lastError ?? "";
    const key = `${host}\0${error}`;
    let g = to.groups.get(key);
    if (!g) {
      g = { host, error, status: t.lastStatusCode, timers: [], count: 0, oldest: t.executeAt, newest: t.executeAt };
      to.groups.set(key, g);
    }
    g.count++;
    if (g.timers.length < shownOf) g.timers.push(t);
    if (t.executeAt < g.oldest) g.oldest = t.executeAt;
    if (t.executeAt > g.newest) g.newest = t.executeAt;
  }
  to.read += timers.length;
}

const label = (of: Group) => of.host || "no URL";

// readOn reads another portion; seen gets what was read so far.
async function readOn(from: Read | undefined, filter: object, abort: AbortSignal, seen: (so: Read) => void): Promise<Read> {
  const next: Read = from
    ? { ...from, groups: new Map([...from.groups].map(([k, g]) => [k, { ...g, timers: [...g.timers] }])) }
    : { groups: new Map(), read: 0, cursor: undefined };
  const until = next.read + portion;
  do {
    const page = await call<TimerPage>("timers/list", { ...filter, limit: pageSize, cursor: next.cursor }, abort);
    add(next, page.timers);
    next.cursor = page.nextCursor;
    if (!abort.aborted) seen({ ...next });
  } while (next.cursor && next.read < until);
  return next;
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
  }, [g.timers.map((t) => t.uuid + t.generation).join()]);
  return <TimerTable timers={present} caption={`Dead timers of ${label(g)}`} />;
}

export function Dead() {
  const q = route.value.query;
  const correlationId = q.get("correlationId") ?? "", dueFrom = q.get("dueFrom") ?? "", dueBefore = q.get("dueBefore") ?? "";
  const ns = namespace.value;
  const filter = { namespace: ns, status: "dead", correlationId: correlationId || undefined, dueFrom: dueFrom || undefined, dueBefore: dueBefore || undefined };
  const key = JSON.stringify(filter);
  // partial is what the first read has read so far, more what "Read more" has read. Both belong to one filter.
  const [partial, setPartial] = useState<{ key: string; read: Read }>();
  const [more, setMore] = useState<{ key: string; read: Read; busy: boolean; error?: ApiError }>();
  const own = more?.key === key ? more : undefined;
  const [open, setOpen] = useState<string>();
  const [bulk, setBulk] = useState<BulkAction | null>(null);
  const [turn, setTurn] = useState(0);
  const first = usePoll<Read>(own ? "" : key, 10_000, (abort) =>
    readOn(undefined, filter, abort, (read) => { if (!first.data) setPartial({ key, read }); }), true, changesDead);
  const state = own?.read ?? first.data ?? (partial?.key === key ? partial.read : undefined);
  const reading = own?.busy ?? first.loading;
  const error = own ? own.error : first.error;
  const abort = useRef(new AbortController());
  useEffect(() => () => { abort.current.abort(); }, [key]);
  const readMore = async (from: Read) => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    let read = from;
    setMore({ key, read, busy: true });
    try {
      read = await readOn(from, filter, signal, (so) => {
        read = so;
        setMore({ key, read, busy: true });
      });
      if (!signal.aborted) setMore({ key, read, busy: false });
    } catch (cause) {
      if (!signal.aborted) setMore({ key, read, busy: false, error: asError(cause) });
    }
  };
  const again = () => {
    abort.current.abort();
    setMore(undefined);
    setTurn((n) => n + 1);
    first.again();
  };

  const act = (kind: "retry" | "purge", group?: Group) => {
    const selected = group ? { ...filter, callbackHost: group.host, lastError: group.error } : filter;
    const path = `timers/${kind}-matching`;
    setBulk({
      title: kind === "retry" ? "Retry dead timers" : "Delete dead timers", verb: kind === "retry" ? "Retry" : "Delete",
      done: kind === "retry" ? "started again" : "removed from history", path, filter: selected, danger: kind === "purge",
      describe: group
        ? <>All dead timers of <strong>{ns}</strong> that {group.host ? <>call <strong>{group.host}</strong></> : "have no URL"} and failed with <q>{group.error}</q>.</>
        : <>All dead timers of <strong>{ns}</strong> that this page’s filter selects, also those that were not read yet.</>,
      count: dryRun(path, selected),
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
        <Lazy label={`Planned from (${inputZone()})`} type="datetime-local" value={inputTime(dueFrom)} set={(value) => { change({ dueFrom: instant(value) }); }} />
        <Lazy label="Planned before" type="datetime-local" value={inputTime(dueBefore)} set={(value) => { change({ dueBefore: instant(value) }); }} />
        {filtered && <Button kind="ghost" onClick={() => { go(["dead"]); }}>Clear</Button>}
      </form>
      {error && <ErrorBox error={error} again={again} />}
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
            {groups.slice(0, shownGroups).map(([k, g]) => (
              <section class="card group" key={k} aria-label={`${label(g)}: ${g.error}`}>
                <div class="group-head">
                  <span class="group-count">{number(g.count)}</span>
                  <div class="group-text">
                    <div><strong>{label(g)}</strong> {g.status ? <Badge kind="dead">HTTP {g.status}</Badge> : null}</div>
                    <div class="reason">{g.error || "no reason"}</div>
                    <div class="muted">planned {time(g.oldest)}{g.newest !== g.oldest && ` to ${time(g.newest)}`}</div>
                  </div>
                  <div class="actions">
                    {writable && g.error && <Button kind="small" onClick={() => { act("retry", g); }}>Retry…</Button>}
                    {writable && g.error && <Button kind="small danger-ghost" onClick={() => { act("purge", g); }}>Delete…</Button>}
                    <Button kind="small ghost" aria-expanded={open === k} onClick={() => { setOpen(open === k ? undefined : k); }}>{open === k ? "Hide" : "Show"} timers</Button>
                  </div>
                </div>
                {open === k && <Members key={turn} of={g} />}
                {open === k && g.count > g.timers.length && <p class="muted pad">The first {g.timers.length} of {number(g.count)}.</p>}
              </section>
            ))}
          </div>
          {groups.length > shownGroups && <p class="muted">The {shownGroups} largest groups.</p>}
          {state.cursor && <p><Button disabled={reading} onClick={() => { void readMore(state); }}>{reading ? "Reading…" : "Read more"}</Button></p>}
        </>
      )}
      {bulk && <Bulk action={bulk} close={() => { setBulk(null); }} after={again} />}
    </Page>
  );
}
