import { useRef } from "preact/hooks";
import { call, mayEverywhere, metricsText, type Flow, type Target } from "./api";
import { limitText, number, seconds } from "./format";
import { Metrics, Window } from "./metrics";
import { Badge, Card, Empty, Loaded, Page, Table, Tile } from "./parts";
import { usePoll } from "./poll";
import { link, namespace, route } from "./state";

interface Callbacks {
  called?: number; queued?: number; open?: number; inFlight?: number; p50?: number; p99?: number; results: [string, number][];
}

function CallbackTiles() {
  const recent = useRef(new Window("dispatcher_callback_seconds_count"));
  const ns = namespace.value;
  const poll = usePoll<Callbacks>(`callbacks/${ns}`, 3000, async (abort) => {
    const m = new Metrics(await metricsText(abort));
    const since = recent.current.add(m);
    const q = (p: number) => m.quantile(p, "dispatcher_callback_seconds", since, { namespace: ns });
    return {
      called: m.sum("dispatcher_hosts", { state: "called" }), queued: m.sum("dispatcher_hosts", { state: "queued" }),
      open: m.sum("dispatcher_hosts", { state: "open" }), inFlight: m.sum("dispatcher_in_flight"), p50: q(0.5), p99: q(0.99),
      results: [...m.by("dispatcher_callbacks_total", "result", { namespace: ns })].filter(([, n]) => n > 0),
    };
  });
  return (
    <Loaded of={poll}>{(c) => c.called === undefined
      ? <p class="callout">This process delivers no timers, so it knows no hosts. Dispatchers export their figures at <code>/metrics</code>.</p>
      : (
        <>
          <div class="tiles">
            <Tile label="Hosts called" value={number(c.called)} hint="with calls in flight" />
            <Tile label="Hosts with a queue" value={number(c.queued ?? 0)} hint="timers wait for a permit" kind={c.queued ? "warn" : ""} />
            <Tile label="Open circuits" value={number(c.open ?? 0)} hint="hosts that do not answer" kind={c.open ? "bad" : ""} />
            <Tile label="In flight" value={number(c.inFlight ?? 0)} hint="deliveries of this process" />
            <Tile label="Callback p50" value={seconds(c.p50)} hint={`${ns}, last minute`} />
            <Tile label="Callback p99" value={seconds(c.p99)} hint={`${ns}, last minute`} />
          </div>
          {c.results.length > 0 && (
            <Card title={`Answers of ${ns} since the start of this process`} wide>
              <div class="chips">{c.results.map(([result, n]) => <span key={result} class={`chip ${result === "2xx" ? "done" : result === "3xx" ? "" : "dead"}`}>{result} <strong>{number(n)}</strong></span>)}</div>
            </Card>
          )}
        </>
      )}</Loaded>
  );
}

function Hosts() {
  const ns = namespace.value;
  const poll = usePoll<{ delivers: boolean; targets: Target[] }>(`targets/${ns}`, 3000, (abort) => call("targets/list", { namespace: ns, limit: 200 }, abort));
  return (
    <Card title="Hosts and user topics" flush wide>
      <Loaded of={poll}>{({ delivers, targets }) => !delivers
        ? <Empty title="This process delivers no timers, so it knows no hosts.">Dispatchers that run as separate processes do not share this state.</Empty>
        : targets.length === 0
          ? <Empty title={`No timer of ${ns} has been delivered since the start of this process.`} />
          : (
            <Table caption="Hosts and user topics" head={["Target", "Circuit", "Running", "Waiting", "Concurrency"]} stack>
              {targets.map((t) => (
                <tr key={t.target}>
                  <td class="id" data-label="Target">{t.target}</td>
                  <td data-label="Circuit">{t.circuitOpen ? <Badge kind="dead">open</Badge> : <Badge kind="done">closed</Badge>}</td>
                  <td class="num" data-label="Running">{number(t.running)}</td>
                  <td class="num" data-label="Waiting">{number(t.waiting)}</td>
                  <td class="num" data-label="Concurrency">{number(t.concurrency)}</td>
                </tr>
              ))}
            </Table>
          )}</Loaded>
    </Card>
  );
}

export function Targets() {
  const ns = namespace.value, after = route.value.query.get("after") ?? "";
  const flows = usePoll<{ flows: Flow[]; next?: string }>(`flows/${ns}/${after}`, 3000, (abort) =>
    call("flows/list", { namespace: ns, after: after || undefined, limit: 100 }, abort));
  return (
    <Page title="Targets">
      {mayEverywhere("read") ? <CallbackTiles /> : <p class="callout">The figures of hosts need the right to read all namespaces.</p>}
      <Hosts />
      <Card title="Flow keys" flush wide>
        <Loaded of={flows}>{(page) => (
          <>
            {page.flows.length === 0
              ? <Empty title={`No flow of ${ns} is in use.`} command={`timerbus namespace update ${ns} --flow 'tenant-*:10/1s,concurrency=2'`}>
                  Timers with the same flow key share a limit. Set limits with the CLI:
                </Empty>
              : (
                <Table caption="Flow keys" head={["Flow key", "Limit", "Running", "Waiting", "Backlog", "Dispatchers"]} stack>
                  {page.flows.map((f) => (
                    <tr key={f.flowKey}>
                      <td class="id" data-label="Flow key">{f.flowKey}</td>
                      <td data-label="Limit">{f.limit ? limitText(f.limit) : "no pattern matches"}</td>
                      <td class="num" data-label="Running">{number(f.running)}</td>
                      <td class="num" data-label="Waiting">{number(f.waiting)}</td>
                      <td class="num" data-label="Backlog">{number(f.backlog)}</td>
                      <td class="num" data-label="Dispatchers">{number(f.dispatchers)}</td>
                    </tr>
                  ))}
                </Table>
              )}
            {(page.next || after) && (
              <div class="pager"><span /><span class="pager-buttons">
                {after && <a class="button" href={link(["targets"])}>First page</a>}
                {page.next && <a class="button" href={link(["targets"], { after: page.next })}>Next page</a>}
              </span></div>
            )}
          </>
        )}</Loaded>
      </Card>
    </Page>
  );
}
