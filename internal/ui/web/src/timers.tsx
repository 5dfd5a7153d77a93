import { useRef, useState } from "preact/hooks";
import { call, may, type Timer, type TimerPage } from "./api";
import { Bulk, countEach, dryRun, type BulkAction, type Counted } from "./act";
import { inputTime, inputZone, instant, number } from "./format";
import { target } from "./overview";
import { Button, Card, Empty, Loaded, Page, SelectField, StatusBadge, Table, TextField, Time } from "./parts";
import { usePoll } from "./poll";
import { change, go, link, namespace, route } from "./state";
import { changesTimers } from "./stream";

const pageSize = 50;
const statuses: [string, string][] = [
  ["", "Live (all that are not finished)"], ["scheduled", "Scheduled"], ["retrying", "Retrying"], ["paused", "Paused"], ["parked", "Parked"],
  ["done", "Done"], ["dead", "Dead"],
];

export function TimerTable({ timers, caption }: { timers: Timer[]; caption: string }) {
  return (
    <Table caption={caption} head={["Timer", "Status", "Due", "Target", "Attempts", "Last error"]} stack>
      {timers.map((t) => (
        <tr key={t.uuid + t.generation}>
          <td class="id" data-label="Timer"><a href={link(["timers", t.id])}>{t.id}</a></td>
          <td data-label="Status"><StatusBadge status={t.status} /></td>
          <td data-label="Due"><Time at={t.status === "done" || t.status === "dead" ? t.executeAt : t.dueAt} /></td>
          <td class="clip" data-label="Target" title={t.callbackUrl ?? t.topic}>{target(t)}</td>
          <td class="num" data-label="Attempts">{t.attempts}</td>
          <td class="clip" data-label="Last error" title={t.lastError}>{t.lastError ?? <span class="muted">–</span>}</td>
        </tr>
      ))}
    </Table>
  );
}

// asked returns what the route asks for.
function asked() {
  const q = route.value.query;
  const status = q.get("status") ?? "", correlationId = q.get("correlationId") ?? "";
  const dueFrom = q.get("dueFrom") ?? "", dueBefore = q.get("dueBefore") ?? "", cursor = q.get("cursor") ?? "";
  const ordered = (status === "" || status === "scheduled" || status === "retrying") && !correlationId;
  const filter = {
    namespace: namespace.value, status: status || undefined, correlationId: correlationId || undefined, dueFrom: dueFrom || undefined,
    dueBefore: dueBefore || undefined,
  };
  const request = { ...filter, order: ordered ? "due" : "key", limit: pageSize, cursor: cursor || undefined };
  return { q, status, correlationId, dueFrom, dueBefore, cursor, ordered, filter, request };
}

// firstRequest is the body of the page's first request, to timers/list.
export const firstRequest = () => asked().request;

export function Timers() {
  const { q, status, correlationId, dueFrom, dueBefore, cursor, ordered, filter, request } = asked();
  const [open, setOpen] = useState("");
  const [bulk, setBulk] = useState<BulkAction | null>(null);
  const list = usePoll<TimerPage>(JSON.stringify(request), cursor ? 10_000 : 3000, (abort) => call("timers/list", request, abort), false, changesTimers);
  // The count waits until the first timers are shown.
  const shown = useRef(false);
  shown.current ||= !list.loading;
  const count = usePoll<Counted>(correlationId || !shown.current ? "" : JSON.stringify(filter), 30_000, (abort) =>
    countEach(filter, [filter.status], abort), true);
  const writable = may("write", namespace.value);
  const act = (name: "pause" | "resume" | "delete" | "retry" | "purge") => {
    const texts: Record<string, [title: string, verb: string, done: string]> = {
      pause: ["Pause timers", "Pause", "paused"], resume: ["Resume timers", "Resume", "resumed"], delete: ["Delete timers", "Delete", "deleted"],
      retry: ["Retry timers", "Retry", "started again"], purge: ["Delete from history", "Delete", "removed from history"],
    };
    const [title, verb, done] = texts[name]!;
    const { status: _, ...without } = filter;
    const own = name === "resume" ? without : filter;
    const path = `timers/${name}-matching`;
    // A pause skips paused and parked timers, a resume all that are not paused.
    const counted = name === "resume" ? ["paused"] : name === "pause" && !status ? ["scheduled", "retrying"] : [filter.status];
    setBulk({
      title, verb, done, path, filter: own, danger: name === "delete" || name === "purge",
      describe: <>All timers of <strong>{namespace.value}</strong> that this page’s filter selects, not only those of the shown page.</>,
      count: name === "retry" || name === "purge" ? dryRun(path, own) : (abort, progress) => countEach(filter, counted, abort, progress),
    });
  };
  const anyCriterion = Boolean(status || correlationId || dueFrom || dueBefore);
  const actions = writable && (
    <>
      {(status === "" || status === "scheduled" || status === "retrying") && <Button onClick={() => { act("pause"); }}>Pause all…</Button>}
      {(status === "" || status === "paused") && <Button onClick={() => { act("resume"); }}>Resume all…</Button>}
      {(status === "dead" || status === "parked") && <Button onClick={() => { act("retry"); }}>Retry all…</Button>}
      {(status === "dead" || status === "done") && <Button onClick={() => { act("purge"); }}>Delete all…</Button>}
      {status !== "dead" && status !== "done" && anyCriterion && <Button onClick={() => { act("delete"); }}>Delete all…</Button>}
      <a class="button primary" href={link(["new", "timer"])}>Create timer</a>
    </>
  );
  return (
    <Page title="Timers" actions={actions}>
      <form class="filters" role="search" onSubmit={(e) => { e.preventDefault(); if (open.trim()) go(["timers", open.trim()]); }}>
        <div class="field">
          <label for="open">Open by id</label>
          <div class="joined">
            <input id="open" data-search type="search" value={open} placeholder="order-1842" spellcheck={false} onInput={(e) => { setOpen(e.currentTarget.value); }} />
            <button type="submit" class="button">Open</button>
          </div>
        </div>
        <SelectField label="Status" value={status} options={statuses} set={(value) => { change({ status: value }); }} />
        <Lazy label="Correlation id" value={correlationId} set={(value) => { change({ correlationId: value }); }} />
        <Lazy label={`Due from (${inputZone()})`} type="datetime-local" value={inputTime(dueFrom)} set={(value) => { change({ dueFrom: instant(value) }); }} />
        <Lazy label="Due before" type="datetime-local" value={inputTime(dueBefore)} set={(value) => { change({ dueBefore: instant(value) }); }} />
        {(anyCriterion || cursor) && <Button kind="ghost" onClick={() => { go(["timers"]); }}>Clear</Button>}
      </form>
      <Card flush wide>
        <Loaded of={list}>{(page) => (
          <>
            {page.timers.length === 0
              ? <Empty title={anyCriterion || cursor ? "No timer matches." : "There are no timers in this namespace."}
                  command={anyCriterion || cursor ? undefined : `timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${namespace.value}`}>
                  {anyCriterion || cursor ? (page.nextCursor ? "This page is empty; the next one may not be." : "Change the filter, or clear it.") : "Create the first one, here or with the CLI:"}
                </Empty>
              : <TimerTable timers={page.timers} caption="Timers" />}
            <div class="pager">
              <span class="muted" role="status">
                {[
                  count.data && `${count.data.more ? "at least " : ""}${number(count.data.n)} in all`,
                  count.error && `counting failed: ${count.error.message}`, ordered ? "the next due first" : "in a fixed order",
                ].filter(Boolean).join(", ")}
              </span>
              <span class="pager-buttons">
                {cursor && <a class="button" href={link(["timers"], { ...Object.fromEntries(q), cursor: undefined })}>First page</a>}
                {page.nextCursor && <a class="button" href={link(["timers"], { ...Object.fromEntries(q), cursor: page.nextCursor })}>Next page</a>}
              </span>
            </div>
          </>
        )}</Loaded>
      </Card>
      {bulk && <Bulk action={bulk} close={() => { setBulk(null); }} after={() => { list.again(); count.again(); }} />}
    </Page>
  );
}

// Lazy is a text field whose value is used when it is complete, not after every key.
export function Lazy({ label, value, set, type }: { label: string; value: string; set: (value: string) => void; type?: "datetime-local" }) {
  const [draft, setDraft] = useState(value);
  const [last, setLast] = useState(value);
  if (last !== value) {
    setLast(value);
    setDraft(value);
  }
  const commit = () => { if (draft !== value) set(draft); };
  return (
    <div onFocusOut={commit} onKeyDown={(e) => { if (e.key === "Enter") { e.preventDefault(); commit(); } }}>
      <TextField label={label} value={draft} set={setDraft} type={type} step={type ? "1" : undefined} />
    </div>
  );
}
