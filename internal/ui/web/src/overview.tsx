import { useRef, useState } from "preact/hooks";
import { call, health, mayEverywhere, metricsText, type Forecast, type Health, type Timer, type TimerPage } from "./api";
import { countEach } from "./act";
import { clockTime, counted, hostOf, number, seconds, time } from "./format";
import { Metrics, Window } from "./metrics";
import { Badge, Bars, Card, Empty, Loaded, Page, StatusBadge, Table, Tile, Time, short } from "./parts";
import { usePoll, type Polled } from "./poll";
import { link, namespace, serverNow } from "./state";
import { changesDead, changesTimers } from "./stream";

const shownPoints = 60;
interface Figures {
  lateness50?: number; lateness99?: number; fires?: number; pending?: number; overdue?: number; dead?: number; held?: number; oldest?: number;
  least?: boolean; // the numbers of timers are lower bounds
  whole: boolean; // the numbers of timers are those of the whole cluster
  local: boolean; // this process delivers timers
}

// useFigures reads /metrics. If the caller may not, or the process has no gauges of the cluster, the numbers of timers are counts of the
// namespace, which are read less often.
function useFigures() {
  const recent = useRef(new Window("dispatcher_fires_total"));
  const series = useRef<{ fires: number[]; lateness: number[] }>({ fires: [], lateness: [] });
  const everywhere = mayEverywhere("read");
  const gauges = usePoll<Figures>(everywhere ? "metrics" : "", 3000, async (abort) => {
    const m = new Metrics(await metricsText(abort));
    const since = recent.current.add(m);
    const fired = m.sum("dispatcher_fires_total");
    const pending = m.sum("timers_pending");
    const fires = since && fired !== undefined
      ? 1000 * Math.max(0, fired - (since.sum("dispatcher_fires_total") ?? 0)) / (m.at - since.at) : undefined;
    const q = (p: number) => m.quantile(p, "dispatcher_lateness_seconds", since);
    const figures: Figures = {
      lateness50: q(0.5), lateness99: q(0.99), fires, pending, overdue: m.sum("timers_overdue"), dead: m.sum("timers_dead"),
      held: pending === undefined ? undefined : (m.sum("timers_paused") ?? 0) + (m.sum("timers_parked") ?? 0),
      oldest: m.sum("timers_oldest_overdue_seconds"), whole: pending !== undefined, local: fired !== undefined,
    };
    if (fires !== undefined) series.current.fires = [...series.current.fires, fires].slice(-shownPoints);
    if (figures.lateness99 !== undefined) series.current.lateness = [...series.current.lateness, figures.lateness99].slice(-shownPoints);
    return figures;
  });
  const counting = !everywhere || gauges.data?.whole === false;
  const numbers = usePoll<Counts>(counting ? `counts/${namespace.value}` : "", 30_000, counts, true);
  const poll: Polled<Figures> = everywhere ? gauges : { ...numbers, data: numbers.data && { ...numbers.data, whole: false, local: false } };
  const data = poll.data && { ...poll.data, ...numbers.data };
  const again = () => { gauges.again(); numbers.again(); };
  return { poll: { ...poll, data, error: poll.error ?? numbers.error, again }, series: series.current, everywhere };
}

type Counts = Required<Pick<Figures, "pending" | "overdue" | "dead" | "held" | "least">>;

// counts are the numbers of timers of the namespace.
async function counts(abort: AbortSignal): Promise<Counts> {
  let least = false;
  const ns = namespace.value;
  const count = async (statuses: string[], before?: string) => {
    const { n, more } = await countEach({ namespace: ns, dueBefore: before }, statuses, abort);
    least ||= more;
    return n;
  };
  const dueBefore = new Date(serverNow()).toISOString();
  const [pending, overdue, dead, held] = await Promise.all([
    count(["scheduled", "retrying"]), count(["scheduled", "retrying"], dueBefore), count(["dead"]), count(["paused", "parked"]),
  ]);
  return { pending, overdue, dead, held, least };
}

const figure = (of: Figures, n: number | undefined) => n === undefined ? "–" : <>{of.least && <small>at least </small>}{short(n)}</>;

function HealthLine({ of }: { of: Health }) {
  const bad = of.reasons ?? [], degraded = of.degraded ?? [];
  const kind = bad.length ? "dead" : degraded.length ? "retrying" : "done";
  return (
    <div class={`health ${kind}`} role="status">
      <Badge kind={kind}>{bad.length ? "not ready" : degraded.length ? "degraded" : "healthy"}</Badge>
      {bad.length === 0 && degraded.length === 0 && <span>Requests are served, and all parts work.</span>}
      <ul>
        {bad.map((reason) => <li key={reason}>{reason}</li>)}
        {degraded.map((d) => <li key={d.part}><strong>{d.part}</strong>: {d.reason}, <Time at={d.since} /></li>)}
      </ul>
    </div>
  );
}

const ranges: [value: string, text: string, hours: number, bucket: number][] = [
  ["24h", "24 hours", 24, 30], ["1h", "1 hour", 1, 1], ["7d", "7 days", 168, 240],
];

function ForecastCard() {
  const [range, setRange] = useState("24h");
  const [, text, hours, bucket] = ranges.find(([value]) => value === range) ?? ranges[0]!;
  const poll = usePoll<Forecast>(`forecast/${namespace.value}/${range}`, 60_000, (abort) => {
    const step = bucket * 60_000;
    const from = Math.floor(serverNow() / step) * step;
    return call("timers/forecast", {
      namespace: namespace.value, from: new Date(from).toISOString(), to: new Date(from + hours * 3_600_000).toISOString(), bucket: `${bucket}m`,
    }, abort);
  }, true);
  const chooser = (
    <div class="segments" role="group" aria-label="Range of the forecast">
      {ranges.map(([value, label]) => <button key={value} type="button" aria-pressed={range === value} onClick={() => { setRange(value); }}>{label}</button>)}
    </div>
  );
  return (
    <Card title="Forecast" aside={chooser} wide>
      <Loaded of={poll}>{(f) => {
        const from = Date.parse(f.from), sum = f.counts.reduce((a, b) => a + b, 0);
        const bars = f.counts.map((value, i) => {
          const at = from + i * bucket * 60_000;
          return { label: hours > 24 ? time(at).slice(5, 16) : clockTime(at), value, title: `${time(at)}: ${counted(value, "timer")}` };
        });
        return (
          <>
            <p class="muted">{counted(sum, "timer")} of {namespace.value} due in the next {text}{f.truncated && `, counted until ${time(f.completeBefore)}`}</p>
            {sum === 0
              ? <Empty title="Nothing is due in this time." command={`timerbus timer create hello --in 1h -n ${namespace.value}`}>Create a timer:</Empty>
              : <Bars bars={bars} every={Math.ceil(bars.length / (innerWidth < 600 ? 4 : 8))} label={`Timers due in the next ${text}, for each ${bucket} minutes: ${sum} in all`} />}
          </>
        );
      }}</Loaded>
    </Card>
  );
}

export function target(t: Timer): string {
  if (t.callbackUrl) return hostOf(t.callbackUrl);
  return t.topic ? `topic ${t.topic}` : "event";
}

function NextCard() {
  const poll = usePoll<TimerPage>(`next/${namespace.value}`, 3000, (abort) =>
    call("timers/list", { namespace: namespace.value, order: "due", limit: 8 }, abort), false, changesTimers);
  return (
    <Card title="Due next" aside={<a href={link(["timers"])}>All timers</a>} flush>
      <Loaded of={poll}>{({ timers }) => timers.length === 0
        ? <Empty title="No timer waits." command={`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${namespace.value}`}>Create one, here or with the CLI:</Empty>
        : (
          <Table caption="Timers that are due next" head={["Due", "Timer", "Target", "Status"]}>
            {timers.map((t) => (
              <tr key={t.uuid}>
                <td><Time at={t.dueAt} only="relative" /></td>
                <td class="id"><a href={link(["timers", t.id])}>{t.id}</a></td>
                <td class="clip">{target(t)}</td>
                <td><StatusBadge status={t.status} /></td>
              </tr>
            ))}
          </Table>
        )}</Loaded>
    </Card>
  );
}

function FailedCard() {
  const poll = usePoll<TimerPage>(`failed/${namespace.value}`, 10_000, (abort) =>
    call("timers/list", { namespace: namespace.value, status: "dead", limit: 8 }, abort), false, changesDead);
  return (
    <Card title="Dead letters" aside={<a href={link(["dead"])}>By reason</a>} flush>
      <Loaded of={poll}>{({ timers }) => timers.length === 0
        ? <Empty title="No timer is dead.">Timers whose retry policy has ended appear here.</Empty>
        : (
          <Table caption="Some dead timers" head={["Timer", "Target", "Error"]}>
            {timers.map((t) => (
              <tr key={t.uuid + t.generation}>
                <td class="id"><a href={link(["timers", t.id])}>{t.id}</a></td>
                <td class="clip">{target(t)}</td>
                <td class="clip" title={t.lastError}>{t.lastError}</td>
              </tr>
            ))}
          </Table>
        )}</Loaded>
    </Card>
  );
}

export function Overview() {
  const ready = usePoll<Health>("health", 5000, health);
  const { poll, series, everywhere } = useFigures();
  const f = poll.data;
  const scope = f && !f.whole ? `namespace ${namespace.value}` : "cluster";
  return (
    <Page title="Overview">
      <Loaded of={ready.error ? { ...ready, data: undefined } : ready}>{(h) => <HealthLine of={h} />}</Loaded>
      <Loaded of={poll}>{(v) => (
        <>
          <div class="tiles">
            <Tile label="Lateness p50" value={seconds(v.lateness50)} hint="start of the attempt" kind={v.lateness50 !== undefined && v.lateness50 > 5 ? "warn" : ""} />
            <Tile label="Lateness p99" value={seconds(v.lateness99)} hint="last minute" kind={v.lateness99 !== undefined && v.lateness99 > 10 ? "warn" : ""} spark={series.lateness} />
            <Tile label="Fires" value={v.fires === undefined ? "–" : `${short(v.fires)}/s`} hint="last minute" spark={series.fires} />
            <Tile label="Pending" value={figure(v, v.pending)} hint={(v.pending ?? 0) < 1000 ? "scheduled, retrying" : number(v.pending ?? 0)} href={link(["timers"])} />
            <Tile label="Backlog" value={figure(v, v.overdue)} hint={v.oldest ? `oldest ${seconds(v.oldest)}` : "overdue timers"} kind={(v.oldest ?? 0) > 10 ? "warn" : ""} />
            <Tile label="Dead" value={figure(v, v.dead)} hint={v.whole ? "can be retried" : "in the history"} kind={v.dead ? "bad" : ""} href={link(["dead"])} />
            <Tile label="Paused, parked" value={figure(v, v.held)} hint={scope} href={link(["timers"], { status: "paused" })} />
          </div>
          {!v.local && (
            <p class="callout">{everywhere
              ? <>This process delivers no timers, so it has no lateness and fires. Dispatchers export them at <code>/metrics</code>; the Grafana dashboard shows all processes.</>
              : <>Lateness and fires need the right to read all namespaces.</>}</p>
          )}
        </>
      )}</Loaded>
      <div class="grid">
        <ForecastCard />
        <NextCard />
        <FailedCard />
      </div>
    </Page>
  );
}

