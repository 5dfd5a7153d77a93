import { useState } from "preact/hooks";
import { call, may, payloadOf, settings, type Attempt, type Timer } from "./api";
import { Confirm } from "./act";
import { duration, inputTime, inputZone, instant, span } from "./format";
import { AreaField, Badge, Button, Card, Copy, Empty, Facts, JSONView, Loaded, Page, Paused, SelectField, StatusBadge, TextField, Time } from "./parts";
import { usePoll } from "./poll";
import { go, link, namespace } from "./state";
import type { Change } from "./stream";

type Action = "update" | "run" | "pause" | "resume" | "retry" | "delete";

export function TimerPage({ id }: { id: string }) {
  const ns = namespace.value;
  const concerns = (c: Change) => c.timerId === id;
  const timer = usePoll<Timer>(`timer/${ns}/${id}`, 2000, (abort) => call("timers/get", { namespace: ns, id }, abort), false, concerns);
  const history = usePoll<{ attempts: Attempt[] }>(`history/${ns}/${id}`, 3000, (abort) => call("timers/history", { namespace: ns, id, limit: 200 }, abort), false, concerns);
  const [action, setAction] = useState<Action | null>(null);
  const t = timer.data;
  const after = () => { timer.again(); history.again(); };
  const actions = t && may("write", ns) && (
    <>
      {t.status === "dead" || t.status === "parked" || t.status === "done"
        ? <Button kind="primary" onClick={() => { setAction("retry"); }}>Retry…</Button>
        : (
          <>
            {t.status !== "paused" && <Button kind="primary" onClick={() => { setAction("run"); }}>Run now…</Button>}
            {t.status === "paused" ? <Button onClick={() => { setAction("resume"); }}>Resume…</Button> : <Button onClick={() => { setAction("pause"); }}>Pause…</Button>}
          </>
        )}
      {t.status !== "dead" && t.status !== "done" && (
        <>
          <Button onClick={() => { setAction("update"); }}>Update…</Button>
          <Button kind="danger-ghost" onClick={() => { setAction("delete"); }}>Delete…</Button>
        </>
      )}
    </>
  );
  return (
    <Page title={id} crumb={<><a href={link(["timers"])}>Timers</a> / {ns}</>} actions={actions}>
      <Loaded of={timer}>{(one) => (
        <div class="grid">
          <State of={one} />
          <Content of={one} />
          <Card title="Attempts" wide>
            <Loaded of={history}>{({ attempts }) => <Timeline attempts={attempts} of={one} />}</Loaded>
          </Card>
        </div>
      )}</Loaded>
      {timer.error?.status === 404 && (
        <Empty title="This timer does not exist, or its history has expired.">
          <a href={link(["timers"])}>All timers of {ns}</a>
        </Empty>
      )}
      {t && action && <Act of={t} action={action} close={() => { setAction(null); }} after={after} />}
    </Page>
  );
}

function State({ of: t }: { of: Timer }) {
  const policy = t.retryPolicy;
  const finished = t.status === "done" || t.status === "dead";
  return (
    <Card title="State" aside={<StatusBadge status={t.status} />}>
      {t.lastError && <div class="callout bad"><strong>{t.lastStatusCode ? `HTTP ${t.lastStatusCode}` : "Last error"}</strong> {t.lastError}</div>}
      <Paused of={t.pause} />
      <Facts of={[
        ["Due", finished ? undefined : <Time at={t.dueAt} />],
        ["Execute at", <Time at={t.executeAt} />],
        ["Local time", t.executeAtLocal && `${t.executeAtLocal.replace("T", " ")} ${t.timeZone}`],
        ["Last attempt", t.executedAt && <Time at={t.executedAt} />],
        ["Attempts", `${t.attempts} of ${policy.maxAttempts}`],
        ["Retry", `from ${span(policy.initialInterval)}, × ${JSON.stringify(policy.backoffMultiplier)}, to ${span(policy.maxInterval)}` +
          (policy.maxAttemptsDuration && policy.maxAttemptsDuration !== "0s" ? `, for ${span(policy.maxAttemptsDuration)}` : "")],
        ["Window", t.window], ["Expires", t.expiresAt && <Time at={t.expiresAt} />], ["Flow key", t.flowKey && <code>{t.flowKey}</code>],
        ["On done", t.onDone && <code>{t.onDone}</code>], ["On dead", t.onDead && <code>{t.onDead}</code>],
        ["Correlation id", <a href={link(["timers"], { correlationId: t.correlationId })}><code>{t.correlationId}</code></a>],
        ["Created", <Time at={t.createdAt} />], ["Updated", <Time at={t.updatedAt} />],
        ["Generation", <code>{t.generation}</code>], ["UUID", <code>{t.uuid}</code>],
      ]} />
    </Card>
  );
}

function Content({ of: t }: { of: Timer }) {
  const shown = !settings.hidePayloads;
  const hidden = <p class="muted">Hidden by the settings of the server.</p>;
  return (
    <Card title="Request">
      <Facts of={[
        ["Delivers", t.deliver], ["Method", t.request?.method ?? (t.callbackUrl ? "POST" : undefined)],
        ["URL", t.callbackUrl && <span class="url"><code>{t.callbackUrl}</code> <Copy text={t.callbackUrl} /></span>],
        ["Topic", t.topic && <code>{t.topic}</code>], ["Key", t.key && <code>{t.key}</code>], ["Timeout", span(t.callbackTimeout)],
        ["Content type", t.request?.contentType],
      ]} />
      {t.headers && Object.keys(t.headers).length > 0 && (
        <>
          <h3>Headers</h3>
          {shown ? <Facts of={Object.entries(t.headers).map(([name, value]) => [name, <code>{value}</code>])} /> : hidden}
        </>
      )}
      <h3>Payload</h3>
      {!shown ? hidden
        : t.payload !== undefined ? <JSONView value={t.payload} label="Payload" />
        : t.request?.body !== undefined ? <JSONView value={t.request.body} label="Body" />
        : t.request?.bodyBase64 !== undefined ? <JSONView value={t.request.bodyBase64} label="Body, base64" />
        : <p class="muted">{t.status === "done" ? "A done timer is shown without its payload." : "This timer has no payload."}</p>}
    </Card>
  );
}

const outcomeKinds: Record<Attempt["outcome"], string> = { done: "done", rescheduled: "scheduled", failed: "retrying", dead: "dead", expired: "parked" };

function Timeline({ attempts, of: t }: { attempts: Attempt[]; of: Timer }) {
  if (attempts.length === 0) {
    return <Empty title="No attempt has ended yet.">{t.status === "scheduled" && <>The first one begins <Time at={t.dueAt} />.</>}</Empty>;
  }
  const took = (a: Attempt) => Date.parse(a.finishedAt) - Date.parse(a.startedAt);
  const longest = Math.max(1, ...attempts.map(took));
  // The newest attempt is the first. An attempt is planned for the nextAt of the attempt before.
  const late = (a: Attempt, i: number) => {
    const before = attempts[i + 1];
    return Date.parse(a.startedAt) - Date.parse(before?.generation === a.generation && before.nextAt ? before.nextAt : a.executeAt);
  };
  return (
    <ol class="timeline">
      {attempts.map((a, i) => (
        <li key={a.generation + a.attempt + a.startedAt} class={outcomeKinds[a.outcome]}>
          <div class="timeline-head">
            <Badge kind={outcomeKinds[a.outcome]}>{a.outcome}</Badge>
            <strong>Attempt {a.attempt}</strong>
            <Time at={a.startedAt} />
            <span class="muted">{duration(Math.max(0, late(a, i)))} late</span>
          </div>
          <div class="timeline-body">
            <span>{t.callbackUrl ? <><code>{t.request?.method ?? "POST"}</code> → </> : "published → "}
              {a.statusCode ? <strong>HTTP {a.statusCode}</strong> : a.error ? "no answer" : "accepted"}</span>
            <span class="meter" aria-hidden="true"><span style={{ width: `${Math.max(1, took(a) / longest * 100)}%` }} /></span>
            <span class="num">{duration(took(a))}</span>
          </div>
          {a.error && <p class="timeline-error">{a.error}</p>}
          {a.nextAt && <p class="muted">Next attempt: <Time at={a.nextAt} /></p>}
        </li>
      ))}
    </ol>
  );
}

// Act keeps the timer as it was when the dialog was opened: its generation is the guard of the request.
function Act({ of, action, close, after }: { of: Timer; action: Action; close: () => void; after: () => void }) {
  const [t] = useState(of);
  const [note, setNote] = useState("");
  const [overdue, setOverdue] = useState("deliver");
  const [in_, setIn] = useState("");
  const selection = { namespace: t.namespace, id: t.id, ifGeneration: t.generation };
  const common = { close, after };
  switch (action) {
    case "run":
      return <Confirm {...common} title={`Run ${t.id} now`} verb="Run now" path="timers/run-now" body={() => selection} done={`${t.id} runs now.`}>
        <p>The timer becomes due at once, as a new run of attempts.</p></Confirm>;
    case "pause":
      return <Confirm {...common} title={`Pause ${t.id}`} verb="Pause" path="timers/pause" body={() => ({ ...selection, note: note || undefined })} done={`${t.id} is paused.`}>
        <p>A paused timer is not delivered until it is resumed.</p>
        <TextField label="Note" value={note} set={setNote} hint="Why it is paused; shown to everyone who may read it." /></Confirm>;
    case "resume":
      return <Confirm {...common} title={`Resume ${t.id}`} verb="Resume" path="timers/resume" body={() => ({ ...selection, overdue })} done={`${t.id} is resumed.`}>
        <SelectField label="If its time has passed" value={overdue} set={setOverdue} options={[["deliver", "Deliver it now"], ["skip", "Let it expire"]]} /></Confirm>;
    case "retry":
      return <Confirm {...common} title={`Retry ${t.id}`} verb="Retry" path="timers/retry" body={() => ({ ...selection, executeIn: in_ || undefined })} done={`${t.id} is scheduled again.`}>
        <p>The timer starts again at attempt 1{t.status === "done" && ". A done timer can be retried only if its namespace keeps payloads"}.</p>
        <TextField label="Delay" value={in_} set={setIn} placeholder="0s" hint="Such as 10m; now if it is empty." /></Confirm>;
    case "delete":
      return <Confirm {...common} title={`Delete ${t.id}`} verb="Delete" danger path="timers/delete" body={() => selection} done={`${t.id} is deleted.`} after={() => { go(["timers"]); }}>
        <p>It is not delivered any more.</p></Confirm>;
    default:
      return <Update of={t} {...common} />;
  }
}

function Update({ of: t, close, after }: { of: Timer; close: () => void; after: () => void }) {
  const before = { at: inputTime(t.executeAt), url: t.callbackUrl ?? "", payload: t.payload === undefined ? "" : JSON.stringify(t.payload, null, 2) };
  const [at, setAt] = useState(before.at);
  const [url, setURL] = useState(before.url);
  const [payload, setPayload] = useState(before.payload);
  const body = (): object | string => {
    const changed: Record<string, unknown> = {};
    if (at !== before.at) {
      const when = instant(at);
      if (!when) return "Enter the time completely.";
      changed.executeAt = when;
    }
    if (url !== before.url) changed.callbackUrl = url || null;
    if (payload !== before.payload) {
      const { value, error } = payloadOf(payload);
      if (error) return error;
      changed.payload = value ?? null;
    }
    if (Object.keys(changed).length === 0) return "Nothing has changed.";
    return { namespace: t.namespace, id: t.id, ifGeneration: t.generation, ...changed };
  };
  return (
    <Confirm title={`Update ${t.id}`} verb="Save" path="timers/update" body={body} done={`${t.id} is updated.`} close={close} after={after}>
      <TextField label={`Time (${inputZone()})`} type="datetime-local" step="1" value={at} set={setAt} />
      <TextField label="Callback URL" value={url} set={setURL} mono />
      {settings.hidePayloads ? <p class="muted">Payloads are hidden by the settings of the server.</p>
        : <AreaField label="Payload (JSON)" value={payload} set={setPayload} rows={8} />}
      <p class="hint">Only changed fields are sent. The update starts again at attempt 1, and fails if the timer has changed since.</p>
    </Confirm>
  );
}
