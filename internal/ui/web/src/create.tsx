import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, apiURL, asError, call, callFull, may, payloadOf, token, type Occurrence, type Schedule, type Timer } from "./api";
import { useGone } from "./act";
import { inputZone, instant, localZone, shell } from "./format";
import { AreaField, Card, Command, ErrorBox, Page, SelectField, TextField } from "./parts";
import { Occurrences } from "./schedules";
import { go, link, namespace, notify } from "./state";

type Body = Record<string, unknown>;

function curl(path: string, body: Body): string {
  const authorization = token.value ? ` \\\n  -H "Authorization: Bearer $TIMERBUS_TOKEN"` : "";
  return `curl${authorization} ${apiURL}/api/v1/${path} \\\n  -d ${shell(JSON.stringify(body, null, 2))}`;
}

function cli(words: string[], flags: [flag: string, value: string][]): string {
  const all = [...flags, ...(namespace.value === "default" ? [] : [["--namespace", namespace.value]] as [string, string][])];
  // An id that begins with a hyphen would be a flag.
  const id = words.at(-1) ?? "";
  const command = id.startsWith("-") ? [...words.slice(0, -1), `--id=${id}`] : words;
  return ["timerbus " + command.map(shell).join(" "), ...all.filter(([, value]) => value).map(([flag, value]) => `  ${flag} ${shell(value)}`)].join(" \\\n");
}

// compact leaves out absent fields. An empty text is a payload.
function compact(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== undefined && (value !== "" || name === "payload")));
}

function Equivalents({ curl, cli }: { curl: string; cli: string }) {
  return (
    <Card title="The same request">
      <h3>curl</h3>
      <Command text={curl} label="curl" />
      <h3>Command line</h3>
      <Command text={cli} label="Command line" />
    </Card>
  );
}

// Form sends a request that creates something, and opens the page whose path send returns, unless this page was left.
function Form({ title, label, id, invalid, send, children }: {
  title: string; label: string; id: string; invalid: string | undefined; send: () => Promise<string[]>; children: ComponentChildren;
}) {
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const gone = useGone();
  const writable = may("write", namespace.value);
  const submit = async () => {
    if (invalid) {
      setError(new ApiError(0, "INCOMPLETE", invalid));
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      const path = await send();
      if (!gone.current) go(path);
    } catch (cause) {
      const e = asError(cause);
      if (gone.current) notify(`${label} ${id}: ${e.message}`, "warn");
      setError(e);
    }
    setBusy(false);
  };
  return (
    <Card title={title}>
      <form onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        {children}
        {error && <ErrorBox error={error} />}
        {!writable && <p class="callout">You have no right to write in {namespace.value}.</p>}
        <button type="submit" class="button primary" disabled={busy || !writable}>{busy ? "Sending…" : label}</button>
      </form>
    </Card>
  );
}

const conflicts: [string, string][] = [["fail", "Refuse (409)"], ["replace", "Replace it"], ["keep", "Keep it"]];

// More opens if a field in it is invalid, because the browser cannot focus hidden fields.
function More({ children }: { children: ComponentChildren }) {
  return <details class="more" onInvalidCapture={(e) => { e.currentTarget.open = true; }}><summary>More settings</summary>{children}</details>;
}

export function CreateTimer() {
  const [id, setId] = useState("");
  const [how, setHow] = useState("in");
  const [in_, setIn] = useState("15m");
  const [at, setAt] = useState("");
  const [localTime, setLocalTime] = useState("");
  const [timeZone, setTimeZone] = useState(localZone);
  const [url, setURL] = useState("http://127.0.0.1:9000/");
  const [payload, setPayload] = useState('{"order": 1842}');
  const [attempts, setAttempts] = useState("");
  const [timeout, setTimeout_] = useState("");
  const [correlationId, setCorrelationId] = useState("");
  const [flowKey, setFlowKey] = useState("");
  const [onConflict, setOnConflict] = useState("fail");
  const parsed = payloadOf(payload);
  const body = compact({
    namespace: namespace.value, id,
    executeIn: how === "in" ? in_ : undefined, executeAt: how === "at" ? instant(at) : undefined,
    executeAtLocal: how === "local" ? (localTime.length === 16 ? localTime + ":00" : localTime) : undefined, timeZone: how === "local" ? timeZone : undefined,
    callbackUrl: url, payload: parsed.value, retryPolicy: attempts ? { maxAttempts: Number(attempts) } : undefined,
    callbackTimeout: timeout, correlationId, flowKey, onConflict,
  });
  const flags: [string, string][] = [
    ["--in", how === "in" ? in_ : ""], ["--at", how === "at" ? instant(at) ?? "" : ""], ["--at-local", String(body.executeAtLocal ?? "")],
    ["--time-zone", String(body.timeZone ?? "")], ["--callback-url", url], ["--payload", parsed.value === undefined ? "" : JSON.stringify(parsed.value)],
    ["--max-attempts", attempts], ["--callback-timeout", timeout], ["--correlation-id", correlationId], ["--flow-key", flowKey], ["--on-conflict", onConflict],
  ];
  const send = async () => {
    const { data, late } = await callFull<Timer>("timers/create", body);
    notify(late ? `${data.id} is replaced. An earlier delivery may have been sent.` : `${data.id} is created.`, late ? "warn" : "ok");
    return ["timers", data.id];
  };
  return (
    <Page title="Create timer" crumb={<><a href={link(["timers"])}>Timers</a> / {namespace.value}</>}
      actions={<a class="button" href={link(["new", "schedule"])}>Schedule instead</a>}>
      <div class="grid">
        <Form title="Timer" label="Create timer" id={id} invalid={parsed.error} send={send}>
          <TextField label="Id" value={id} set={setId} required placeholder="order-1842" mono hint="Unique in the namespace." />
          <SelectField label="When" value={how} set={setHow} options={[["in", "After a duration"], ["at", "At an instant"], ["local", "At a local time"]]} />
          {how === "in" && <TextField label="Duration" value={in_} set={setIn} hint="Such as 200ms, 30s, 1h30m or 1d12h." />}
          {how === "at" && <TextField label={`Time (${inputZone()})`} type="datetime-local" step="1" value={at} set={setAt} required />}
          {how === "local" && (
            <>
              <TextField label="Local time" type="datetime-local" step="1" value={localTime} set={setLocalTime} required />
              <TextField label="Time zone" value={timeZone} set={setTimeZone} hint="If the rules of the zone change, the timer moves with them." />
            </>
          )}
          <TextField label="Callback URL" value={url} set={setURL} mono hint="Empty: an event on timerbus.fired." />
          <AreaField label="Payload (JSON)" value={payload} set={setPayload} error={parsed.error} />
          <SelectField label="If the id exists" value={onConflict} set={setOnConflict} options={conflicts} />
          <More>
            <TextField label="Attempts, at most" type="number" value={attempts} set={setAttempts} hint="1 to 1000; by default those of the namespace." />
            <TextField label="Callback timeout" value={timeout} set={setTimeout_} placeholder="30s" />
            <TextField label="Correlation id" value={correlationId} set={setCorrelationId} />
            <TextField label="Flow key" value={flowKey} set={setFlowKey} hint="Timers with the same key share a limit of the namespace." />
          </More>
        </Form>
        <Equivalents curl={curl("timers/create", body)} cli={cli(["timer", "create", id || "order-1842"], flags)} />
      </div>
    </Page>
  );
}

export function CreateSchedule() {
  const [id, setId] = useState("");
  const [kind, setKind] = useState("cron");
  const [cron, setCron] = useState("0 8 * * MON-FRI");
  const [every, setEvery] = useState("15m");
  const [rrule, setRRule] = useState("FREQ=MONTHLY;BYDAY=-1FR");
  const [timeZone, setTimeZone] = useState(localZone);
  const [url, setURL] = useState("http://127.0.0.1:9000/");
  const [payload, setPayload] = useState("");
  const [overlap, setOverlap] = useState("allow");
  const [catchUp, setCatchUp] = useState("all");
  const [count, setCount] = useState("");
  const [onConflict, setOnConflict] = useState("fail");
  const [preview, setPreview] = useState<{ occurrences: Occurrence[]; timeZone: string }>();
  const [previewError, setPreviewError] = useState<ApiError>();
  const parsed = payloadOf(payload);
  const spec = kind === "cron" ? { cron } : kind === "every" ? { every } : { rrule };
  const zoned = kind !== "every";
  const body = compact({
    namespace: namespace.value, id, specs: [spec], timeZone: zoned ? timeZone : undefined, overlap, catchUp, count: count ? Number(count) : undefined,
    timer: compact({ callbackUrl: url, payload: parsed.value }), onConflict,
  });
  const flags: [string, string][] = [
    [`--${kind}`, String(Object.values(spec)[0])], ["--time-zone", zoned ? timeZone : ""], ["--callback-url", url],
    ["--payload", parsed.value === undefined ? "" : JSON.stringify(parsed.value)], ["--overlap", overlap], ["--catch-up", catchUp], ["--count", count],
    ["--on-conflict", onConflict],
  ];
  const previewed = JSON.stringify({ namespace: namespace.value, specs: [spec], timeZone: zoned ? timeZone : undefined });
  useEffect(() => {
    const abort = new AbortController();
    const timeout = setTimeout(() => {
      call<{ occurrences: Occurrence[]; timeZone: string }>("schedules/preview", { ...JSON.parse(previewed) as object, limit: 6 }, abort.signal).then(
        (found) => { setPreview(found); setPreviewError(undefined); },
        (cause: unknown) => { if (!abort.signal.aborted) { setPreviewError(asError(cause)); setPreview(undefined); } });
    }, 300);
    return () => { clearTimeout(timeout); abort.abort(); };
  }, [previewed]);
  const send = async () => {
    const { data } = await callFull<Schedule>("schedules/create", body);
    notify(`${data.id} is created.`);
    return ["schedules", data.id];
  };
  return (
    <Page title="Create schedule" crumb={<><a href={link(["schedules"])}>Schedules</a> / {namespace.value}</>}
      actions={<a class="button" href={link(["new", "timer"])}>Timer instead</a>}>
      <div class="grid">
        <Form title="Schedule" label="Create schedule" id={id} invalid={parsed.error} send={send}>
          <TextField label="Id" value={id} set={setId} required placeholder="daily-report" mono />
          <SelectField label="Occurs" value={kind} set={setKind} options={[["cron", "Cron expression"], ["every", "Interval"], ["rrule", "RRULE"]]} />
          {kind === "cron" && <TextField label="Cron expression" value={cron} set={setCron} mono hint="Minute, hour, day of month, month, day of week; 6 fields begin with seconds." />}
          {kind === "every" && <TextField label="Interval" value={every} set={setEvery} hint="At least 1s." />}
          {kind === "rrule" && <TextField label="RRULE" value={rrule} set={setRRule} mono />}
          {zoned && <TextField label="Time zone" value={timeZone} set={setTimeZone} />}
          <TextField label="Callback URL" value={url} set={setURL} mono hint="Empty: an event on timerbus.fired." />
          <AreaField label="Payload (JSON)" value={payload} set={setPayload} error={parsed.error} rows={3} />
          <SelectField label="If the id exists" value={onConflict} set={setOnConflict} options={conflicts} />
          <More>
            <SelectField label="If the earlier occurrence is not finished" value={overlap} set={setOverlap}
              options={[["allow", "Create the next one"], ["skip", "Leave the next one out"], ["queue", "Create it afterwards"], ["cancelOther", "Delete the earlier one"]]} />
            <SelectField label="After an outage" value={catchUp} set={setCatchUp} options={[["all", "Create all of the last minute"], ["last", "Create the last one"], ["none", "Create none"]]} />
            <TextField label="Occurrences, at most" type="number" value={count} set={setCount} />
          </More>
        </Form>
        <div class="column">
          <Card title="Next occurrences" flush>
            {previewError && <ErrorBox error={previewError} />}
            {preview && <Occurrences of={preview.occurrences} timeZone={preview.timeZone} />}
          </Card>
          <Equivalents curl={curl("schedules/create", body)} cli={cli(["schedule", "create", id || "daily-report"], flags)} />
        </div>
      </div>
    </Page>
  );
}
