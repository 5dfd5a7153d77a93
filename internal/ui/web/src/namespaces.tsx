import { useState } from "preact/hooks";
import { call, may, mayEverywhere, type Namespace } from "./api";
import { Bulk, Confirm, countEach, type BulkAction } from "./act";
import { counted, limitText, number, span } from "./format";
import { Badge, Button, Card, Empty, Facts, Loaded, Page, SelectField, Table, TextField, Time } from "./parts";
import { usePoll } from "./poll";
import { link, loadNamespaces, moreNamespaces } from "./state";

export function Namespaces() {
  const list = usePoll<Namespace[]>("namespaces", 15_000, loadNamespaces);
  const [creating, setCreating] = useState(false);
  return (
    <Page title="Namespaces" actions={mayEverywhere("admin") && <Button kind="primary" onClick={() => { setCreating(true); }}>Create namespace…</Button>}>
      <Card flush wide>
        <Loaded of={list}>{(all) => all.length === 0
          ? <Empty title="You may read no namespace." command="timerbus key list">Ask an administrator for a grant such as read@default.</Empty>
          : (
            <>
            {moreNamespaces.value && <p class="callout">The first {number(all.length)} namespaces. <code>timerbus namespace list</code> prints all.</p>}
            <Table caption="Namespaces" head={["Namespace", "Shards", "History", "Dead", "Host concurrency", "Max. pending", "Signed", "Updated"]} stack>
              {all.map((n) => (
                <tr key={n.name}>
                  <td class="id" data-label="Namespace"><a href={link(["namespaces", n.name])}>{n.name}</a> {n.deletingSince && <Badge kind="dead">being deleted</Badge>}</td>
                  <td class="num" data-label="Shards">{n.numShards}</td>
                  <td data-label="History">{span(n.settings.historyRetention)}</td>
                  <td data-label="Dead">{span(n.settings.deadRetention)}</td>
                  <td class="num" data-label="Host concurrency">{n.settings.hostConcurrency}</td>
                  <td class="num" data-label="Max. pending">{n.settings.quota?.maxPending ? number(n.settings.quota.maxPending) : <span class="muted">no limit</span>}</td>
                  <td data-label="Signed">{n.settings.secrets?.length ? "yes" : <span class="muted">no</span>}</td>
                  <td data-label="Updated"><Time at={n.updatedAt} only="relative" /></td>
                </tr>
              ))}
            </Table>
            </>
          )}</Loaded>
      </Card>
      {creating && <Create close={() => { setCreating(false); }} after={list.again} />}
    </Page>
  );
}

function Create({ close, after }: { close: () => void; after: () => void }) {
  const [name, setName] = useState("");
  const [preset, setPreset] = useState("small");
  return (
    <Confirm title="Create namespace" verb="Create" path="namespaces/create" body={() => name ? { name, preset } : "Enter a name."} done={`${name} is created.`} close={close} after={after}>
      <TextField label="Name" value={name} set={setName} required />
      <SelectField label="Size" value={preset} set={setPreset} hint="It can never be changed."
        options={[["small", "Below 10,000 timers (16 shards)"], ["medium", "Below 1,000,000 (256)"], ["large", "Below 10,000,000 (1,024)"], ["xlarge", "Below 100,000,000 (4,096)"]]} />
    </Confirm>
  );
}

export function NamespacePage({ name }: { name: string }) {
  const ns = usePoll<Namespace>(`namespace/${name}`, 5000, (abort) => call("namespaces/get", { name }, abort));
  const [bulk, setBulk] = useState<BulkAction | null>(null);
  const [editing, setEditing] = useState(false);
  const pause = (kind: "pause" | "resume") => {
    setBulk({
      title: `${kind === "pause" ? "Pause" : "Resume"} ${name}`, verb: kind === "pause" ? "Pause" : "Resume", done: kind === "pause" ? "paused" : "resumed",
      path: `timers/${kind}-matching`, filter: { namespace: name },
      describe: kind === "pause" ? "All scheduled and retrying timers of the namespace. Timers that are created later are not paused." : "All paused timers of the namespace.",
      count: (abort, progress) => countEach({ namespace: name }, kind === "resume" ? ["paused"] : ["scheduled", "retrying"], abort, progress),
    });
  };
  const actions = ns.data && (
    <>
      {may("write", name) && <Button onClick={() => { pause("pause"); }}>Pause all timers…</Button>}
      {may("write", name) && <Button onClick={() => { pause("resume"); }}>Resume all timers…</Button>}
      {may("admin", name) && <Button kind="primary" onClick={() => { setEditing(true); }}>Edit…</Button>}
    </>
  );
  return (
    <Page title={name} crumb={<a href={link(["namespaces"])}>Namespaces</a>} actions={actions}>
      <Loaded of={ns}>{(n) => {
        const s = n.settings, p = s.retryPolicy;
        return (
          <div class="grid">
            <Card title="Settings" aside={n.deletingSince && <Badge kind="dead">being deleted</Badge>}>
              <Facts of={[
                ["Shards", n.numShards], ["Callback timeout", span(s.callbackTimeout)],
                ["Retry", `${counted(p.maxAttempts, "attempt")}, from ${span(p.initialInterval)}, × ${JSON.stringify(p.backoffMultiplier)}, to ${span(p.maxInterval)}`],
                ["History", span(s.historyRetention)], ["Dead timers", span(s.deadRetention)], ["Payloads of done timers", s.keepPayload ? span(s.keepPayload) : "not kept"],
                ["Final statuses", s.finalStatuses?.join(", ")], ["Event topics", s.eventTopics?.join(", ")],
                ["On done", s.onDone && <code>{s.onDone}</code>], ["On dead", s.onDead && <code>{s.onDead}</code>], ["Result events", s.results],
                ["Headers", s.headers && Object.keys(s.headers).join(", ")], ["Version", n.version], ["Updated", <Time at={n.updatedAt} />],
              ]} />
            </Card>
            <Card title="Limits">
              <Facts of={[
                ["Calls of one host", `${s.hostConcurrency} for each dispatcher`], ["Pending timers", s.quota?.maxPending ? number(s.quota.maxPending) : "no limit"],
                ["Creates", s.quota?.createsPerSecond ? `${number(s.quota.createsPerSecond)} per second` : "no limit"],
                ["Payload", s.quota?.maxPayloadBytes ? `${number(s.quota.maxPayloadBytes)} bytes` : "102,400 bytes"],
                ...(s.flows ?? []).map((f): [string, string] => [`Flow ${f.pattern}`, limitText(f)]),
              ]} />
            </Card>
            <Card title="Keys of signatures" flush wide>
              {!s.secrets?.length
                ? <Empty title="Callbacks of this namespace are not signed." command={`timerbus namespace update ${name} --secret -`}>Set a secret with the CLI:</Empty>
                : (
                  <Table caption="Keys of signatures" head={["Id", "Created", "Expires"]}>
                    {s.secrets.map((k) => <tr key={k.id}><td><code>{k.id}</code></td><td><Time at={k.createdAt} /></td><td>{k.expiresAt ? <Time at={k.expiresAt} /> : "never"}</td></tr>)}
                  </Table>
                )}
            </Card>
            {(s.callbackAuth || s.tls) && (
              <Card title="Authentication of callbacks">
                <Facts of={[["Type", s.callbackAuth?.type], ["Token endpoint", s.callbackAuth?.tokenUrl], ["Client", s.callbackAuth?.clientId ?? s.callbackAuth?.username],
                  ["Own authorities", s.tls?.ca && "yes"], ["Client certificate", s.tls?.certificate && "yes"]]} />
              </Card>
            )}
          </div>
        );
      }}</Loaded>
      {bulk && <Bulk action={bulk} close={() => { setBulk(null); }} after={ns.again} />}
      {editing && ns.data && <Edit of={ns.data} close={() => { setEditing(false); }} after={ns.again} />}
    </Page>
  );
}

// Edit keeps the namespace as it was when the dialog was opened: its version is the guard of the request.
function Edit({ of, close, after }: { of: Namespace; close: () => void; after: () => void }) {
  const [n] = useState(of);
  const s = n.settings;
  const before = {
    callbackTimeout: span(s.callbackTimeout), historyRetention: span(s.historyRetention), deadRetention: span(s.deadRetention),
    hostConcurrency: String(s.hostConcurrency), maxPending: String(s.quota?.maxPending ?? ""),
  };
  const [now, setNow] = useState(before);
  const set = (name: keyof typeof before) => (value: string) => { setNow({ ...now, [name]: value }); };
  const body = (): object | string => {
    const settings: Record<string, unknown> = {};
    for (const name of ["callbackTimeout", "historyRetention", "deadRetention"] as const) {
      if (now[name] !== before[name]) settings[name] = now[name] || null;
    }
    if (now.hostConcurrency !== before.hostConcurrency) settings.hostConcurrency = now.hostConcurrency ? Number(now.hostConcurrency) : null;
    if (now.maxPending !== before.maxPending) settings.quota = { ...s.quota, maxPending: now.maxPending ? Number(now.maxPending) : null };
    return Object.keys(settings).length ? { name: n.name, settings, ifVersion: n.version } : "Nothing has changed.";
  };
  return (
    <Confirm title={`Edit ${n.name}`} verb="Save" path="namespaces/update" body={body} done={`${n.name} is updated.`} close={close} after={after}>
      <TextField label="Callback timeout" value={now.callbackTimeout} set={set("callbackTimeout")} hint="1s to 5m" />
      <TextField label="History retention" value={now.historyRetention} set={set("historyRetention")} />
      <TextField label="Dead retention" value={now.deadRetention} set={set("deadRetention")} />
      <TextField label="Calls of one host for each dispatcher" type="number" value={now.hostConcurrency} set={set("hostConcurrency")} hint="1 to 1024" />
      <TextField label="Pending timers, at most" type="number" value={now.maxPending} set={set("maxPending")} hint="Empty: no limit" />
      <p class="hint">Empty fields get their default. All other settings: <code>timerbus namespace update {n.name} --help</code></p>
    </Confirm>
  );
}
