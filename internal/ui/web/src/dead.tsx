import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { asError, call, may, type ApiError, type Timer, type TimerPage } from "./api";
import { Bulk, dryRun, type BulkAction } from "./act";
import { counted, hostOf, inputTime, inputZone, instant, number, time } from "./format";
import { Lazy, TimerTable } from "./timers";
import { Button, Card, Empty, ErrorBox, Page, Badge } from "./parts";
import { usePoll } from "./poll";
import { change, go, namespace, route, link } from "./state";
import { changesDead, changesTimers, type Change } from "./stream";

// The timers that are read at first, and by each "Read more"; fewer if their pages are not full.
const portion = 5000, portionPages = 10;
const pageSize = 500;
const shownOf = 20;
const shownGroups = 100;

// Group is what callbackHost and lastError select: the timers without a URL have the host "", also if their topics differ.
interface Group {
  host: string; error: string; status: number | undefined; timers: Timer[]; count: number; attempts: number;
  oldest: string; newest: string; // the planned times of dead timers, and the next attempts of others
}

interface Read { groups: Map<string, Group>; read: number; cursor: string | undefined }

// add puts timers into their groups. Only the first ones of a group are kept.
function add(to: Read, timers: Timer[]): void {
  for (const t of timers) {
    const host = t.callbackUrl ? hostOf(t.callbackUrl) : "";
    const error = t.lastError ?? "";
    const key = `${host}\0${error}`;
    const at = t.status === "dead" ? t.executeAt : t.dueAt;
    let g = to.groups.get(key);
    if (!g) {
      g = { host, error, status: t.lastStatusCode, timers: [], count: 0, attempts: 0, oldest: at, newest: at };
      to.groups.set(key, g);
    }
    g.count++;
    g.attempts = Math.max(g.attempts, t.attempts);
    if (g.timers.length < shownOf) g.timers.push(t);
    if (at < g.oldest) g.oldest = at;
    if (at > g.newest) g.newest = at;
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
  let pages = 0;
  do {
    const page = await call<TimerPage>("timers/list", { ...filter, limit: pageSize, cursor: next.cursor }, abort);
    add(next, page.timers);
    next.cursor = page.nextCursor;
    if (!abort.aborted) seen({ ...next });
  } while (next.cursor && next.read < until && ++pages < portionPages);
  return next;
}

// Members shows the first timers of a group, as they are now: they may have been retried or fired since.
function Members({ of: g, caption }: { of: Group; caption: string }) {
  const [present, setPresent] = useState<Timer[]>(g.timers);
  useEffect(() => {
    const abort = new AbortController();
    const get = (t: Timer) => call<Timer>("timers/get", { namespace: t.namespace, id: t.id }, abort.signal)
      .then((newest) => t.status !== "dead" ? newest : newest.generation === t.generation ? t : { ...t, status: newest.status }, () => t);
    void Promise.all(g.timers.map(get)).then((all) => { if (!abort.signal.aborted) setPresent(all); });
    return () => { abort.abort(); };
  }, [g.timers.map((t) => [t.uuid, t.generation, t.attempts]).join()]);
  return <TimerTable timers={present} caption={`${caption} of ${label(g)}`} />;
}

// useGroups reads the timers of a filter in groups.
function useGroups(filter: object, concerns: (change: Change) => boolean) {
  const key = JSON.stringify(filter);
  // partial is what the first read has read so far, more what "Read more" has read. Both belong to one filter.
  const [partial, setPartial] = useState<{ key: string; read: Read }>();
  const [more, setMore] = useState<{ key: string; read: Read; busy: boolean; error?: ApiError }>();
  const own = more?.key === key ? more : undefined;
  const [turn, setTurn] = useState(0);
  const first = usePoll<Read>(own ? "" : key, 10_000, (abort) =>
    readOn(undefined, filter, abort, (read) => { if (!first.data) setPartial({ key, read }); }), true, concerns);
  const state = own?.read ?? first.data ?? (partial?.key === key ? partial.read : undefined);
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
  const groups = state ? [...state.groups].sort(([, a], [, b]) => b.count - a.count) : [];
  return { state, groups, reading: own?.busy ?? first.loading, error: own ? own.error : first.error, readMore, again, turn };
}

// Groups shows the largest groups, kind is their badge.
function Groups({ of, kind, caption, times, most, actions }: {
  of: ReturnType<typeof useGroups>; kind: "dead" | "retrying"; caption: string; times: string; most: number; actions?: (g: Group) => ComponentChildren;
}) {
  const { state, groups, reading, readMore, turn } = of;
  const [open, setOpen] = useState<string>();
  return state && (
    <>
      <div class="groups">
        {groups.slice(0, most).map(([k, g]) => (
          <section class={`card group ${kind}`} key={k} aria-label={`${caption}, ${label(g)}: ${g.error}`}>
            <div class="group-head">
              <span class="group-count">{number(g.count)}</span>
              <div class="group-text">
                <div><strong>{label(g)}</strong> {g.status ? <Badge kind={kind}>HTTP {g.status}</Badge> : null}</div>
                <div class="reason">{g.error || "no reason"}</div>
                <div class="muted">{times} {time(g.oldest)}{g.newest !== g.oldest && ` to ${time(g.newest)}`}
                  {kind === "retrying" && `, after ${g.attempts === 1 ? "1 attempt" : `up to ${g.attempts} attempts`}`}</div>
              </div>
              <div class="actions">
                {actions?.(g)}
                <Button kind="small ghost" aria-expanded={open === k} onClick={() => { setOpen(open === k ? undefined : k); }}>{open === k ? "Hide" : "Show"} timers</Button>
              </div>
            </div>
            {open === k && <Members key={turn} of={g} caption={caption} />}
            {open === k && g.count > g.timers.length && <p class="muted pad">The first {g.timers.length} of {number(g.count)}.</p>}
          </section>
        ))}
      </div>
      {state.cursor && <p><Button disabled={reading} onClick={() => { void readMore(state); }}>{reading ? "Reading…" : "Read more"}</Button></p>}
    </>
  );
}

// Retrying shows the timers that have failed and that are not dead yet.
function Retrying({ filter }: { filter: Record<string, string | undefined> }) {
  const all = useGroups({ ...filter, status: "retrying" }, changesTimers);
  const [every, setEvery] = useState(false);
  const { state, groups, reading, error, again } = all;
  const most = every ? shownGroups : 5;
  if (!error && (!state || state.read === 0 && !state.cursor)) return null;
  return (
    <section aria-labelledby="retrying" class="part">
      <div class="part-head"><h2 id="retrying">Retrying</h2><a href={link(["timers"], { ...filter, namespace: undefined, status: "retrying" })}>As a list</a></div>
      {error && <ErrorBox error={error} again={again} />}
      {state && (
        <p class="muted" role="status">{counted(state.read, "timer")} failed and will be tried again{state.cursor && (reading ? ", and more" : ", and maybe more")}. They
          are not dead.{(filter.dueFrom || filter.dueBefore) && " The filter by time selects the next attempt."}</p>
      )}
      <Groups of={all} kind="retrying" caption="Retrying timers" times="next attempt" most={most} />
      {groups.length > most && (every
        ? <p class="muted">The {shownGroups} largest groups.</p>
        : <p><Button kind="small" onClick={() => { setEvery(true); }}>Show all {number(groups.length)} groups</Button></p>)}
    </section>
  );
}

export function Dead() {
  const q = route.value.query;
  const correlationId = q.get("correlationId") ?? "", dueFrom = q.get("dueFrom") ?? "", dueBefore = q.get("dueBefore") ?? "";
  const ns = namespace.value;
  const criteria = { namespace: ns, correlationId: correlationId || undefined, dueFrom: dueFrom || undefined, dueBefore: dueBefore || undefined };
  const filter = { ...criteria, status: "dead" };
  const dead = useGroups(filter, changesDead);
  const { state, groups, reading, error, again } = dead;
  const [bulk, setBulk] = useState<BulkAction | null>(null);

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
      <Retrying filter={criteria} />
      {error && <ErrorBox error={error} again={again} />}
      {!state && reading && <div class="skeleton" role="status"><span class="sr">Loading</span></div>}
      {state && groups.length === 0 && !reading && (
        <Card><Empty title={filtered ? "No dead timer matches." : "No timer is dead."}>
          {filtered ? "Change the filter, or clear it." : "Timers whose retry policy has ended appear here, with their payload, for the dead retention of the namespace."}
        </Empty></Card>
      )}
      {state && groups.length > 0 && (
        <section aria-labelledby="dead" class="part">
          <div class="part-head"><h2 id="dead">Dead</h2></div>
          <p class="muted" role="status">{counted(state.read, "dead timer")} in {counted(groups.length, "group")}, by host and reason{state.cursor && ", and more"}.
            A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends.</p>
          <Groups of={dead} kind="dead" caption="Dead timers" times="planned" most={shownGroups} actions={(g) => writable && g.error && (
            <>
              <Button kind="small" onClick={() => { act("retry", g); }}>Retry…</Button>
              <Button kind="small danger-ghost" onClick={() => { act("purge", g); }}>Delete…</Button>
            </>
          )} />
          {groups.length > shownGroups && <p class="muted">The {shownGroups} largest groups.</p>}
        </section>
      )}
      {bulk && <Bulk action={bulk} close={() => { setBulk(null); }} after={again} />}
    </Page>
  );
}
