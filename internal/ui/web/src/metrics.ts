// Reads the Prometheus text format of /metrics.

export interface Sample { name: string; labels: Record<string, string>; value: number }

export function parse(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("timerbus_")) continue;
    const m = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!m) continue;
    const labels: Record<string, string> = {};
    for (const [, key = "", value = ""] of (m[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[key] = value.replace(/\\(.)/g, (_, c: string) => c === "n" ? "\n" : c);
    }
    samples.push({ name: m[1]!.slice("timerbus_".length), labels, value: Number(m[3]!.replace("Inf", "Infinity")) });
  }
  return samples;
}

export class Metrics {
  readonly at = performance.now();
  private readonly byName = new Map<string, Sample[]>();

  constructor(text: string) {
    for (const s of parse(text)) {
      const all = this.byName.get(s.name);
      if (all) all.push(s);
      else this.byName.set(s.name, [s]);
    }
  }

  // sum adds all series of a metric with these labels; undefined if there is none.
  sum(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.byName.get(name)?.filter((s) => Object.entries(labels).every(([k, v]) => s.labels[k] === v));
    return found?.length ? found.reduce((sum, s) => sum + s.value, 0) : undefined;
  }

  // by adds the series of a metric for each value of a label.
  by(name: string, label: string, labels: Record<string, string> = {}): Map<string, number> {
    const out = new Map<string, number>();
    for (const s of this.byName.get(name) ?? []) {
      if (!Object.entries(labels).every(([k, v]) => s.labels[k] === v)) continue;
      const key = s.labels[label] ?? "";
      out.set(key, (out.get(key) ?? 0) + s.value);
    }
    return out;
  }

  // quantile returns a quantile of a histogram, of what was observed after since; undefined without since or observations.
  quantile(q: number, name: string, since: Metrics | undefined, labels: Record<string, string> = {}): number | undefined {
    if (!since) return undefined;
    const before = since.by(`${name}_bucket`, "le", labels);
    const buckets = [...this.by(`${name}_bucket`, "le", labels)]
      .map(([le, n]) => [le === "+Inf" ? Infinity : Number(le), n - (before.get(le) ?? 0)] as const)
      .sort((a, b) => a[0] - b[0]);
    const total = buckets.at(-1)?.[1] ?? 0;
    if (total <= 0) return undefined;
    const rank = q * total;
    let lower = 0, below = 0;
    for (const [le, n] of buckets) {
      if (n >= rank) {
        if (le === Infinity) return lower;
        return lower + (le - lower) * (n === below ? 1 : (rank - below) / (n - below));
      }
      lower = le;
      below = n;
    }
    return lower;
  }
}

// rateWindow is the time over which rates and quantiles are computed, in ms.
const rateWindow = 60_000;

// Window keeps the last scrapes of a process.
export class Window {
  private scrapes: Metrics[] = [];

  // counter is the metric that shows a restart of the process: it becomes smaller.
  constructor(private readonly counter: string) {}

  // add returns the scrape with which the window of m begins; undefined if there is none, or only one that is too old.
  add(m: Metrics): Metrics | undefined {
    const count = m.sum(this.counter) ?? 0;
    this.scrapes = this.scrapes.filter((s) => m.at - s.at <= 2 * rateWindow && (s.sum(this.counter) ?? 0) <= count);
    this.scrapes.push(m);
    while (this.scrapes.length > 2 && m.at - this.scrapes[1]!.at > rateWindow) this.scrapes.shift();
    return this.scrapes.length > 1 ? this.scrapes[0] : undefined;
  }
}
