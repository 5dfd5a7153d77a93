import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, asError, call, may, settings, type Decision, type Occurrence, type Schedule, type Spec } from "./api";
import { Confirm, useGone } from "./act";
import { counted, inputZone, instant, span, time } from "./format";
import { Badge, Button, Card, Dialog, Empty, ErrorBox, Facts, JSONView, Loaded, Page, Paused, SelectField, StatusBadge, Table, TextField, Time } from "./parts";
import { usePoll } from "./poll";
import { change, go, link, namespace, notify, route, scheduleZone } from "./state";
import type { Change } from "./stream";

export function specText(s: Spec): string {
  if (s.cron) return s.cron;
  if (s.every) return `every ${span(s.every)}`;
  if (s.rrule) return s.rrule;
  return counted(s.dates?.length ?? 0, "date");
}

function shownTemplate({ payload, request, headers, ...rest }: Schedule["timer"]): Record<string, unknown> {
  return settings.hidePayloads ? rest : { ...rest, payload, request, headers };
}

export function Schedules() {
  const status = route.value.query.get("status") ?? "", cursor = route.value.query.get("cursor") ?? "";
  const ns = namespace.value;
  const list = usePoll<{ schedules: Schedule[]; nextCursor?: string }>(`${ns}/${status}/${cursor}`, 5000, (abort) =>
    call("schedules/list", { namespace: ns, status: status || undefined, limit: 50, cursor: cursor || undefined }, abort), false, (c) => c.scheduleId !== undefined);
  return (
    <Page title="Schedules" actions={may("write", ns) && <a class="button primary" href={link(["new", "schedule"])}>Create schedule</a>}>
      <form class="filters" role="search" onSubmit={(e) => { e.preventDefault(); }}>
        <SelectField label="Status" value={status} set={(value) => { change({ status: value }); }}
          options={[["", "All"], ["active", "Active"], ["paused", "Paused"], ["parked", "Parked"]]} />
      </form>
      <Card flush wide>
        <Loaded of={list}>{(page) => (
          <>
            {page.schedules.length === 0
              ? <Empty title={status ? `No schedule is ${status}.` : "There are no schedules in this namespace."}
                  command={status ? undefined : `timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${ns}`}>
                  {!status && "A schedule creates a timer for each of its instants. Create the first one, here or with the CLI:"}
                </Empty>
              : (
                <Table caption="Schedules" head={["Schedule", "Status", "Occurs", "Time zone", "Next", "Created"]} stack>
                  {page.schedules.map((s) => (
                    <tr key={s.id}>
                      <td class="id" data-label="Schedule"><a href={link(["schedules", s.id])}>{s.id}</a></td>
                      <td data-label="Status"><StatusBadge status={s.status} /></td>
                      <td class="clip" data-label="Occurs"><code>{s.specs.map(specText).join("; ")}</code></td>
                      <td data-label="Time zone">{s.timeZone}</td>
                      <td data-label="Next"><Time at={s.nextAt} /></td>
                      <td class="num" data-label="Created">{s.created}</td>
                    </tr>
                  ))}
                </Table>
              )}
            {(page.nextCursor || cursor) && (
              <div class="pager"><span /><span class="pager-buttons">
                {cursor && <a class="button" href={link(["schedules"], { status })}>First page</a>}
                {page.nextCursor && <a class="button" href={link(["schedules"], { status, cursor: page.nextCursor })}>Next page</a>}
              </span></div>
            )}
          </>
        )}</Loaded>
      </Card>
    </Page>
  );
}

const remarks = {
  gap: "The clocks skip its local time; it occurs after the gap.",
  first: "The clocks repeat its local time; this is the first of the two.",
  second: "The clocks repeat its local time; this is the second of the two.",
};

export function Occurrences({ of, timeZone }: { of: Occurrence[]; timeZone: string }) {
  if (of.length === 0) return <Empty title="There are no further occurrences." />;
  return (
    <Table caption="Next occurrences" head={[`Local time (${timeZone})`, "Instant", "Remark"]} stack>
      {of.map((o) => (
        <tr key={o.at}>
          <td data-label="Local time">{o.local.replace("T", " ")}</td>
          <td data-label="Instant"><Time at={o.at} /></td>
          <td data-label="Remark">{o.remark ? <><Badge kind="retrying">DST</Badge> {remarks[o.remark]}</> : <span class="muted">–</span>}</td>
        </tr>
      ))}
    </Table>
  );
}

export function SchedulePage({ id }: { id: string }) {
  const ns = namespace.value;
  const concerns = (c: Change) => c.scheduleId === id;
  const schedule = usePoll<Schedule>(`schedule/${ns}/${id}`, 3000, (abort) => call("schedules/get", { namespace: ns, id }, abort), false, concerns);
  const s = schedule.data;
  const preview = usePoll<{ occurrences: Occurrence[]; timeZone: string; zoneVersion: string }>(`preview/${ns}/${id}/${s?.version ?? 0}`, 30_000, (abort) =>
    call("schedules/preview", { namespace: ns, id, limit: 10 }, abort));
  const history = usePoll<{ decisions: Decision[] }>(`decisions/${ns}/${id}`, 5000, (abort) => call("schedules/history", { namespace: ns, id, limit: 50 }, abort), false, concerns);
  const [action, setAction] = useState<"pause" | "resume" | "trigger" | "backfill" | "delete" | null>(null);
  useEffect(() => {
    scheduleZone.value = s?.timeZone ?? null;
    return () => { scheduleZone.value = null; };
  }, [s?.timeZone]);
  const after = () => { schedule.again(); history.again(); preview.again(); };
  const actions = s && may("write", ns) && s.status !== "ended" && (
    <>
      <Button kind="primary" onClick={() => { setAction("trigger"); }}>Trigger…</Button>
      {s.status === "active" ? <Button onClick={() => { setAction("pause"); }}>Pause…</Button> : <Button onClick={() => { setAction("resume"); }}>Resume…</Button>}
      <Button onClick={() => { setAction("backfill"); }}>Backfill…</Button>
      <a class="button" href={link(["schedules", id, "update"])}>Update</a>
      <Button kind="danger-ghost" onClick={() => { setAction("delete"); }}>Delete…</Button>
    </>
  );
  return (
    <Page title={id} crumb={<><a href={link(["schedules"])}>Schedules</a> / {ns}</>} actions={actions}>
      <Loaded of={schedule}>{(one) => (
        <div class="grid">
          <Definition of={one} />
          <Card title="Timer of an occurrence">
            <JSONView value={shownTemplate(one.timer)} label="Template" />
            {settings.hidePayloads && <p class="hint">Its payload, body and headers are hidden by the settings of the server.</p>}
          </Card>
          <Card title="Next occurrences" wide flush aside={preview.data && <span class="muted">time zones {preview.data.zoneVersion}</span>}>
            {one.status === "paused" && <p class="callout">The schedule is paused: these occurrences are not created until it is resumed.</p>}
            <Loaded of={preview}>{(p) => <Occurrences of={p.occurrences} timeZone={p.timeZone} />}</Loaded>
          </Card>
          <Card title="Decisions" wide flush>
            <Loaded of={history}>{({ decisions }) => decisions.length === 0
              ? <Empty title="No occurrence was due yet." />
              : (
                <Table caption="Decisions about occurrences" head={["Occurrence", "Decision", "Reason", "Timer"]} stack>
                  {decisions.map((d) => (
                    <tr key={d.at + d.decidedAt + d.decision}>
                      <td data-label="Occurrence"><Time at={d.at} /></td>
                      <td data-label="Decision"><Badge kind={d.decision === "created" ? "done" : d.decision === "skipped" ? "retrying" : "paused"}>{d.decision}</Badge></td>
                      <td data-label="Reason">{d.reason ?? <span class="muted">–</span>}</td>
                      <td class="id" data-label="Timer">{d.timerId ? <a href={link(["timers", d.timerId])}>{d.timerId}</a> : <span class="muted">–</span>}</td>
                    </tr>
                  ))}
                </Table>
              )}</Loaded>
          </Card>
        </div>
      )}</Loaded>
      {s && action && <Act of={s} action={action} close={() => { setAction(null); }} after={after} />}
    </Page>
  );
}

function Definition({ of: s }: { of: Schedule }) {
  return (
    <Card title="Definition" aside={<StatusBadge status={s.status} />}>
      <Paused of={s.pause} />
      <Facts of={[
        ["Occurs", s.specs.map((spec, i) => <div key={i}><code>{specText(spec)}</code></div>)],
        ["Time zone", s.timeZone], ["Next", s.nextAt && <Time at={s.nextAt} />], ["Created timers", s.created],
        ["From", s.start && <Time at={s.start} />], ["Until", s.end && <Time at={s.end} />], ["At most", s.count],
        ["Overlap", s.overlap], ["Catch-up", s.catchUpWindow ? `${s.catchUp}, within ${span(s.catchUpWindow)}` : s.catchUp],
        ["Skipped local times", s.gap], ["Repeated local times", s.repeated], ["Pause after dead", s.pauseOnDead],
        ["Version", s.version], ["Updated", <Time at={s.updatedAt} />],
      ]} />
    </Card>
  );
}

// Act keeps the schedule as it was when the dialog was opened: its version is the guard of the deletion.
function Act({ of, action, close, after }: { of: Schedule; action: string; close: () => void; after: () => void }) {
  const [s] = useState(of);
  const [note, setNote] = useState("");
  const [pending, setPending] = useState("keep");
  const selection = { namespace: s.namespace, id: s.id };
  const common = { close, after };
  switch (action) {
    case "trigger":
      return <Confirm {...common} title={`Trigger ${s.id}`} verb="Trigger" path="schedules/trigger" body={() => selection} done={`${s.id} has created an occurrence.`}>
        <p>Creates an occurrence now, in addition to the planned ones.</p></Confirm>;
    case "pause":
      return <Confirm {...common} title={`Pause ${s.id}`} verb="Pause" path="schedules/pause" body={() => ({ ...selection, note: note || undefined })} done={`${s.id} is paused.`}>
        <p>A paused schedule creates no occurrences.</p><TextField label="Note" value={note} set={setNote} /></Confirm>;
    case "resume":
      return <Confirm {...common} title={`Resume ${s.id}`} verb="Resume" path="schedules/resume" body={() => selection} done={`${s.id} is resumed.`}>
        <p>The schedule continues with its next occurrence.</p></Confirm>;
    case "delete":
      return <Confirm {...common} title={`Delete ${s.id}`} verb="Delete" danger path="schedules/delete" done={`${s.id} is deleted.`} after={() => { go(["schedules"]); }}
        body={() => ({ ...selection, pending, ifVersion: s.version })}>
        <SelectField label="Its timers that are not finished" value={pending} set={setPending} options={[["keep", "Keep them"], ["delete", "Delete them"]]} /></Confirm>;
    default:
      return <Backfill of={s} {...common} />;
  }
}

// Backfill creates the occurrences of a past time range, request by request, until the end or until it is stopped.
function Backfill({ of: s, close, after }: { of: Schedule; close: () => void; after: () => void }) {
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [error, setError] = useState<ApiError>();
  const [status, setStatus] = useState("");
  const [busy, setBusy] = useState(false);
  const gone = useGone();
  const stopped = useRef(false);
  const send = async () => {
    const end = instant(to);
    let begin = instant(from);
    if (!begin || !end) {
      setError(new ApiError(0, "INCOMPLETE", "Enter both times."));
      return;
    }
    setBusy(true);
    setError(undefined);
    stopped.current = false;
    let created = 0, kept = 0;
    const text = () => `${counted(created, "occurrence")} created, ${kept} existed`;
    try {
      do {
        const page: { created: number; kept: number; nextFrom?: string } = await call("schedules/backfill", { namespace: s.namespace, id: s.id, from: begin, to: end });
        created += page.created;
        kept += page.kept;
        begin = page.nextFrom;
        setStatus(`${text()}${begin ? `, continuing at ${time(begin)}` : ""}.`);
      } while (begin && !stopped.current && !gone.current);
      if (begin) notify(`${s.id}: ${text()}. Stopped at ${time(begin)}.`, "warn");
      else notify(`${s.id}: ${text()}.`);
      if (!begin && !gone.current) close();
    } catch (cause) {
      const e = asError(cause);
      if (gone.current) notify(`Backfill ${s.id}: failed, ${text()}: ${e.message}`, "warn");
      setError(e);
    }
    setBusy(false);
    after();
  };
  return (
    <Dialog title={`Backfill ${s.id}`} close={close}>
      <form onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <p>Creates the occurrences of a past time range that do not exist. They are delivered at once.</p>
        <TextField label={`From (${inputZone()})`} type="datetime-local" step="1" value={from} set={setFrom} required />
        <TextField label="Before" type="datetime-local" step="1" value={to} set={setTo} required hint="Not in the future." />
        {status && <p role="status" class="callout">{status}</p>}
        {error && <ErrorBox error={error} />}
        <div class="dialog-foot">
          {busy ? <Button kind="danger" onClick={() => { stopped.current = true; }}>Stop</Button> : <Button onClick={close}>Close</Button>}
          <button type="submit" class="button primary" disabled={busy}>{busy ? "Working…" : "Backfill"}</button>
        </div>
      </form>
    </Dialog>
  );
}
