import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  ApiError, apiURL, asError, call, callFull, may, payloadOf, settings, token, type Occurrence, type Schedule, type Spec, type Timer,
} from "./api";
import { useGone } from "./act";
import { inputTime, inputZone, instant, localZone, shell } from "./format";
import { AreaField, Button, Card, Command, ErrorBox, Page, SelectField, TextField } from "./parts";
import { usePoll } from "./poll";
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

// Equivalents shows commands that do the same. curl is absent if it would show what is hidden, cli if the command has no such flags.
function Equivalents({ curl, cli }: { curl: string | undefined; cli: string | undefined }) {
  return (
    <Card title="The same request">
      <h3>curl</h3>
      {curl ? <Command text={curl} label="curl" /> : <p class="hint">Not shown, because it contains what the settings of the server hide.</p>}
      <h3>Command line</h3>
      {cli ? <Command text={cli} label="Command line" /> : <p class="hint">The command has one interval at most. Use curl.</p>}
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

// Draft is what the form of a schedule shows. Its values are texts, as they are entered.
interface Draft {
  kind: string; cron: string; every: string; rrule: string; specs: string; timeZone: string; start: string; end: string; gap: string; repeated: string;
  url: string; payload: string; overlap: string; catchUp: string; catchUpWindow: string; count: string; pauseOnDead: string;
}

const newDraft = (): Draft => ({
  kind: "cron", cron: "0 8 * * MON-FRI", every: "15m", rrule: "FREQ=MONTHLY;BYDAY=-1FR", specs: '[{"cron": "0 8 * * MON-FRI"}, {"cron": "0 10 * * SAT"}]',
  timeZone: localZone(), start: "", end: "", gap: "next", repeated: "first", url: "http://127.0.0.1:9000/", payload: "", overlap: "allow", catchUp: "all",
  catchUpWindow: "", count: "", pauseOnDead: "",
});

function draftOf(s: Schedule): Draft {
  const only = s.specs.length === 1 ? s.specs[0]! : {};
  const kind = Object.keys(only).length === 1 ? (["cron", "every", "rrule"] as const).find((k) => only[k]) : undefined;
  const { callbackUrl, payload } = s.timer;
  const text = (value: unknown) => value === undefined ? "" : String(value);
  return {
    ...newDraft(), ...only, kind: kind ?? "json", specs: JSON.stringify(s.specs, null, 2), timeZone: s.timeZone, start: inputTime(s.start), end: inputTime(s.end),
    gap: s.gap, repeated: s.repeated, url: text(callbackUrl), payload: payload === undefined ? "" : JSON.stringify(payload, null, 2), overlap: s.overlap,
    catchUp: s.catchUp, catchUpWindow: text(s.catchUpWindow), count: text(s.count), pauseOnDead: text(s.pauseOnDead),
  };
}

function specsOf(d: Draft): { specs?: Spec[]; error?: string } {
  switch (d.kind) {
    case "cron": return { specs: [{ cron: d.cron }] };
    case "every": return { specs: [{ every: d.every }] };
    case "rrule": return { specs: [{ rrule: d.rrule }] };
    default: {
      const { value } = payloadOf(d.specs);
      const valid = Array.isArray(value) && value.every((spec) => typeof spec === "object" && spec !== null);
      return valid ? { specs: value as Spec[] } : { error: 'The specs are not a JSON array of objects, such as [{"cron": "0 8 * * *"}, {"dates": ["2030-12-24T08:00:00"]}].' };
    }
  }
}

type Flags = [flag: string, value: string][];

function specFlags(specs: Spec[]): Flags {
  return specs.flatMap((s): Flags =>
    s.cron ? [["--cron", s.cron]] : s.rrule ? [["--rrule", s.rrule]] : s.every ? [["--every", s.every], ["--anchor", s.anchor ?? ""]]
      : (s.dates ?? []).map((date) => ["--date", date]));
}

const fields: [name: keyof Draft, flag: string, convert?: (text: string) => unknown][] = [
  ["timeZone", "time-zone"], ["start", "start", instant], ["end", "end", instant], ["gap", "gap"], ["repeated", "repeated"], ["overlap", "overlap"],
  ["catchUp", "catch-up"], ["catchUpWindow", "catch-up-window"], ["count", "count", Number], ["pauseOnDead", "pause-on-dead", Number],
];

// requestOf returns the fields of a request and the flags of the command: those of a new schedule, or those that change a schedule.
function requestOf(d: Draft, specs: Spec[], payload: unknown, zoned: boolean, of?: Schedule, before?: Draft) {
  const body: Body = {}, flags: Flags = [], cleared: string[] = [];
  if (!before || JSON.stringify(specs) !== JSON.stringify(specsOf(before).specs)) {
    body.specs = specs;
    flags.push(...specFlags(specs));
  }
  for (const [name, flag, convert = (text: string) => text] of fields) {
    const text = d[name];
    if (before ? text === before[name] : text === "" || !zoned && /^(timeZone|gap|repeated)$/.test(name)) continue;
    body[name] = text === "" ? null : convert(text);
    if (text === "") cleared.push(flag);
    else flags.push([`--${flag}`, String(body[name])]);
  }
  if (!before || d.url !== before.url || d.payload !== before.payload) {
    // An update replaces the whole template. The default of deliver depends on the URL, and a timer has a payload or a request.
    const { deliver, request, ...kept } = of?.timer ?? {};
    const moved = Boolean(d.url) !== Boolean(before?.url);
    body.timer = {
      ...kept, deliver: moved ? undefined : deliver, request: before?.payload === d.payload || payload === undefined ? request : undefined,
      callbackUrl: d.url || undefined, payload,
    };
    if (before && moved && !d.url) cleared.push("deliver");
    for (const [name, flag, value] of [["url", "callback-url", d.url], ["payload", "payload", payload === undefined ? "" : JSON.stringify(payload)]] as const) {
      if (before?.[name] === d[name]) continue;
      if (before && value === "") cleared.push(flag);
      else flags.push([`--${flag}`, value]);
    }
  }
  flags.push(["--clear", cleared.join()]);
  return { body, flags };
}

// ScheduleForm creates a schedule, or updates one as it was when the form was opened: its version is the guard of the request.
function ScheduleForm({ of }: { of?: Schedule }) {
  const [before] = useState(() => of ? draftOf(of) : undefined);
  const [d, setDraft] = useState(() => before ?? newDraft());
  const [id, setId] = useState(of?.id ?? "");
  const [onConflict, setOnConflict] = useState("fail");
  const [pending, setPending] = useState("keep");
  const [preview, setPreview] = useState<{ occurrences: Occurrence[]; timeZone: string }>();
  const [previewError, setPreviewError] = useState<ApiError>();
  const set = (name: keyof Draft) => (value: string) => { setDraft((old) => ({ ...old, [name]: value })); };
  const parsed = payloadOf(d.payload), { specs = [], error: specsError } = specsOf(d);
  const zoned = d.kind !== "every" || of !== undefined;
  const { body: own, flags } = requestOf(d, specs, parsed.value, zoned, of, before);
  const body = of
    ? { namespace: of.namespace, id: of.id, ifVersion: of.version, ...own, ...(pending === "keep" ? {} : { pending }) }
    : compact({ namespace: namespace.value, id, ...own, onConflict });
  flags.push(...(of ? [["--pending", pending === "keep" ? "" : pending], ["--if-version", String(of.version)]] : [["--on-conflict", onConflict]]) as Flags);
  const definition = {
    namespace: namespace.value, specs, exclude: of?.exclude,
    ...(zoned && { timeZone: d.timeZone || undefined, start: instant(d.start), end: instant(d.end), gap: d.gap, repeated: d.repeated }),
  };
  const previewed = specsError ? "" : JSON.stringify(definition);
  useEffect(() => {
    if (!previewed) {
      setPreview(undefined);
      setPreviewError(undefined);
      return undefined;
    }
    const abort = new AbortController();
    const timeout = setTimeout(() => {
      call<{ occurrences: Occurrence[]; timeZone: string }>("schedules/preview", { ...JSON.parse(previewed) as object, limit: 6 }, abort.signal).then(
        (found) => { setPreview(found); setPreviewError(undefined); },
        (cause: unknown) => { if (!abort.signal.aborted) { setPreviewError(asError(cause)); setPreview(undefined); } });
    }, 300);
    return () => { clearTimeout(timeout); abort.abort(); };
  }, [previewed]);
  const send = async () => {
    const { data } = await callFull<Schedule>(of ? "schedules/update" : "schedules/create", body);
    notify(`${data.id} is ${of ? "updated" : "created"}.`);
    return ["schedules", data.id];
  };
  const unchanged = of && Object.keys(own).length === 0 ? "Nothing has changed." : undefined;
  // The template contains what is hidden, so the curl call would print it.
  const hidden = of && settings.hidePayloads && own.timer !== undefined;
  const intervals = specs.filter((s) => s.every).length;
  return (
    <div class="grid">
      <Form title="Schedule" label={of ? "Save" : "Create schedule"} id={id} invalid={specsError ?? parsed.error ?? unchanged} send={send}>
        {!of && <TextField label="Id" value={id} set={setId} required placeholder="daily-report" mono />}
        <SelectField label="Occurs" value={d.kind} set={set("kind")}
          options={[["cron", "Cron expression"], ["every", "Interval"], ["rrule", "RRULE"], ["json", "Several specs, as JSON"]]} />
        {d.kind === "cron" && <TextField label="Cron expression" value={d.cron} set={set("cron")} mono hint="Minute, hour, day of month, month, day of week; 6 fields begin with seconds." />}
        {d.kind === "every" && <TextField label="Interval" value={d.every} set={set("every")} hint="At least 1s." />}
        {d.kind === "rrule" && <TextField label="RRULE" value={d.rrule} set={set("rrule")} mono />}
        {d.kind === "json" && <AreaField label="Specs (JSON)" value={d.specs} set={set("specs")} error={specsError} hint="Each has cron, rrule, dates or every." />}
        {zoned && <TextField label="Time zone" value={d.timeZone} set={set("timeZone")} />}
        <TextField label="Callback URL" value={d.url} set={set("url")} mono hint="Empty: an event on timerbus.fired." />
        {of && settings.hidePayloads ? <p class="muted">Payloads are hidden by the settings of the server.</p>
          : <AreaField label="Payload (JSON)" value={d.payload} set={set("payload")} error={parsed.error} rows={3} />}
        {of
          ? <SelectField label="Occurrences that are not finished" value={pending} set={setPending} options={[["keep", "Keep them"], ["delete", "Delete them"]]} />
          : <SelectField label="If the id exists" value={onConflict} set={setOnConflict} options={conflicts} />}
        <More>
          <TextField label={`From (${inputZone()})`} type="datetime-local" step="1" value={d.start} set={set("start")} />
          <TextField label="Until" type="datetime-local" step="1" value={d.end} set={set("end")} />
          {zoned && (
            <>
              <SelectField label="Skipped local times" value={d.gap} set={set("gap")} options={[["next", "Occur after the gap"], ["skip", "Do not occur"]]} />
              <SelectField label="Repeated local times" value={d.repeated} set={set("repeated")} options={[["first", "Occur once"], ["both", "Occur twice"]]} />
            </>
          )}
          <SelectField label="If the earlier occurrence is not finished" value={d.overlap} set={set("overlap")}
            options={[["allow", "Create the next one"], ["skip", "Leave the next one out"], ["queue", "Create it afterwards"], ["cancelOther", "Delete the earlier one"]]} />
          <SelectField label="After an outage" value={d.catchUp} set={set("catchUp")}
            options={[["all", "Create all of the catch-up window"], ["last", "Create the last one"], ["none", "Create none"]]} />
          {d.catchUp === "all" && <TextField label="Catch-up window" value={d.catchUpWindow} set={set("catchUpWindow")} placeholder="1m" />}
          <TextField label="Occurrences, at most" type="number" value={d.count} set={set("count")} hint="Of the whole schedule, from its creation on." />
          <TextField label="Pause after dead occurrences in a row" type="number" value={d.pauseOnDead} set={set("pauseOnDead")} />
        </More>
        {of && <p class="hint">Only changed fields are sent; empty ones get their default. The change applies to occurrences that are not created yet, and fails if the
          schedule has changed since.{of.exclude && " Its exclusions are kept."}</p>}
      </Form>
      <div class="column">
        <Card title="Next occurrences" flush>
          {previewError && <ErrorBox error={previewError} />}
          {preview && <Occurrences of={preview.occurrences} timeZone={preview.timeZone} />}
        </Card>
        {!unchanged && (
          <Equivalents curl={hidden ? undefined : curl(of ? "schedules/update" : "schedules/create", body)}
            cli={intervals > 1 ? undefined : cli(["schedule", of ? "update" : "create", id || "daily-report"], flags)} />
        )}
      </div>
    </div>
  );
}

export function CreateSchedule() {
  return (
    <Page title="Create schedule" crumb={<><a href={link(["schedules"])}>Schedules</a> / {namespace.value}</>}
      actions={<a class="button" href={link(["new", "timer"])}>Timer instead</a>}>
      <ScheduleForm />
    </Page>
  );
}

export function UpdateSchedule({ id }: { id: string }) {
  const ns = namespace.value;
  const present = usePoll<Schedule>(`schedule/${ns}/${id}`, 3000, (abort) => call("schedules/get", { namespace: ns, id }, abort), false, (c) => c.scheduleId === id);
  // base is what the form began with.
  const [base, setBase] = useState<Schedule>();
  if (!base && present.data) setBase(present.data);
  const newer = base && present.data && present.data.version !== base.version ? present.data : undefined;
  return (
    <Page title={`Update ${id}`} crumb={<><a href={link(["schedules"])}>Schedules</a> / <a href={link(["schedules", id])}>{id}</a> / {ns}</>}>
      {newer && (
        <div class="callout" role="status">
          <p>The schedule has changed: this form shows version {base?.version}, the present version is {newer.version}. It cannot be saved.</p>
          <Button onClick={() => { setBase(newer); }}>Show version {newer.version}</Button>
        </div>
      )}
      {present.error && <ErrorBox error={present.error} again={present.again} />}
      {base ? <ScheduleForm key={base.version} of={base} /> : present.loading && <div class="skeleton" role="status"><span class="sr">Loading</span></div>}
    </Page>
  );
}
