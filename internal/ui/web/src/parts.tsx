// Components that several pages share.
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ApiError, Schedule, Status } from "./api";
import { relative, time } from "./format";
import { now } from "./state";
import type { Polled } from "./poll";

let navigated = false;

export function Page({ title, crumb, actions, children }: {
  title: string; crumb?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => { document.title = `${title} · Timerbus`; }, [title]);
  useEffect(() => {
    // Not on the first page: the focus begins at the top.
    if (navigated) {
      heading.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    navigated = true;
  }, []);
  return (
    <>
      <div class="page-head">
        <div class="page-title">
          {crumb && <div class="crumb">{crumb}</div>}
          <h1 tabIndex={-1} ref={heading}>{title}</h1>
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

export function Card({ title, aside, children, wide, flush }: {
  title?: string; aside?: ComponentChildren; children: ComponentChildren; wide?: boolean; flush?: boolean;
}) {
  const id = useId();
  return (
    <section class={`card${wide ? " wide" : ""}${flush ? " flush" : ""}`} aria-labelledby={title ? id : undefined}>
      {title && <div class="card-head"><h2 id={id}>{title}</h2>{aside}</div>}
      {children}
    </section>
  );
}

export function Badge({ kind, children }: { kind: string; children: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

export const StatusBadge = ({ status }: { status: Status | string }) => <Badge kind={status}>{status}</Badge>;

// Time shows an instant, and how far away it is.
export function Time({ at, only }: { at: string | undefined; only?: "relative" | "absolute" }) {
  if (!at) return <span class="muted">–</span>;
  const absolute = time(at);
  if (only === "absolute") return <time dateTime={at} title={at}>{absolute}</time>;
  const away = relative(at, now.value);
  if (only === "relative") return <time dateTime={at} title={absolute}>{away}</time>;
  return <time dateTime={at} title={at} class="time"><span>{absolute}</span> <span class="muted">{away}</span></time>;
}

export function Button({ kind = "", ...props }: ButtonHTMLAttributes & { kind?: string }) {
  return <button type="button" {...props} class={`button ${kind}`} />;
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timeout = setTimeout(() => { setDone(false); }, 2000);
    return () => { clearTimeout(timeout); };
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // the clipboard needs https or loopback
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const copied = document.execCommand("copy");
      area.remove();
      if (!copied) return;
    }
    setDone(true);
  };
  return <Button kind="small" onClick={() => { void copy(); }}>{done ? "Copied" : label}</Button>;
}

export function Command({ text, label }: { text: string; label: string }) {
  return (
    <div class="command">
      <pre tabIndex={0} aria-label={label}><code>{text}</code></pre>
      <Copy text={text} />
    </div>
  );
}

export function Empty({ title, children, command }: { title: string; children?: ComponentChildren; command?: string }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p class="muted">{children}</p>}
      {command && <Command text={command} label="Command" />}
    </div>
  );
}

const titles: Record<string, string> = {
  UNREACHABLE: "Not reachable", INCOMPLETE: "Not sent", 401: "Not signed in", 403: "Not allowed", 404: "Not found", 409: "Changed or existing", 429: "Too many requests",
  503: "Not available", 504: "Outcome unknown",
};

export function ErrorBox({ error, again }: { error: ApiError; again?: () => void }) {
  return (
    <div class="error" role="alert">
      <div>
        <strong>{titles[error.status || error.code] ?? "Failed"}</strong> <code>{error.status || ""} {error.code}</code>
        <p>{error.message}</p>
      </div>
      {again && <Button kind="small" onClick={again}>Try again</Button>}
    </div>
  );
}

// Loaded shows the data of a poll, its error, or both if older data is known.
export function Loaded<T>({ of, children }: { of: Polled<T>; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {of.error && <ErrorBox error={of.error} again={of.again} />}
      {of.data !== undefined ? children(of.data) : of.loading && <div class="skeleton" role="status"><span class="sr">Loading</span></div>}
    </>
  );
}

// Dialog is a modal dialog, open as long as it is rendered.
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const d = dialog.current;
    const before = document.activeElement as HTMLElement | null;
    d?.showModal();
    return () => { d?.close(); before?.focus(); };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onCancel={(e) => { e.preventDefault(); close(); }}>
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="icon" aria-label="Close" onClick={close}>✕</Button>
      </div>
      {children}
    </dialog>
  );
}

export function Field({ label, hint, children, error }: {
  label: string; hint?: ComponentChildren; error?: string | undefined; children: (id: string, describedBy: string | undefined) => ComponentChildren;
}) {
  const id = useId();
  const described = hint || error ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, described)}
      {(hint || error) && <p id={described} class={error ? "hint bad" : "hint"}>{error ?? hint}</p>}
    </div>
  );
}

type InputType = "text" | "number" | "datetime-local";

export function TextField({ label, value, set, hint, error, type = "text", placeholder, required, mono, step }: {
  label: string; value: string; set: (value: string) => void; hint?: ComponentChildren; error?: string | undefined; type?: InputType | undefined;
  placeholder?: string; required?: boolean; mono?: boolean; step?: string | undefined;
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(id, described) => (
        <input id={id} type={type as "text"} value={value} placeholder={placeholder} required={required} step={step} spellcheck={false} autocomplete="off"
          class={mono ? "mono" : ""} aria-describedby={described} aria-invalid={error ? true : undefined}
          onInput={(e) => { set(e.currentTarget.value); }} />
      )}
    </Field>
  );
}

export function AreaField({ label, value, set, hint, error, rows = 5 }: {
  label: string; value: string; set: (value: string) => void; hint?: ComponentChildren; error?: string | undefined; rows?: number;
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(id, described) => (
        <textarea id={id} rows={rows} value={value} class="mono" spellcheck={false} aria-describedby={described}
          aria-invalid={error ? true : undefined} onInput={(e) => { set(e.currentTarget.value); }} />
      )}
    </Field>
  );
}

export function SelectField({ label, value, set, options, hint }: {
  label: string; value: string; set: (value: string) => void; options: [value: string, text: string][]; hint?: string;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(e) => { set(e.currentTarget.value); }}>
        {options.map(([v, text]) => <option key={v} value={v} selected={v === value}>{text}</option>)}
      </select>
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

// Facts is a list of names and values.
export function Facts({ of }: { of: [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.filter(([, value]) => value !== undefined && value !== "" && value !== null)
        .map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

export function Table({ caption, head, children, stack }: {
  caption: string; head: ComponentChildren[]; children: ComponentChildren; stack?: boolean;
}) {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label={caption}>
      <table class={stack ? "stack" : ""}>
        <caption class="sr">{caption}</caption>
        <thead><tr>{head.map((text, i) => <th key={i} scope="col">{text}</th>)}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

// JSONView shows a value as indented text; it never becomes markup.
export function JSONView({ value, label }: { value: unknown; label: string }) {
  return <Command text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} label={label} />;
}

export function Paused({ of: pause }: { of: Schedule["pause"] }) {
  return pause && <div class="callout">Paused{pause.by && ` by ${pause.by}`} <Time at={pause.at} />{pause.note && `: ${pause.note}`}</div>;
}

export interface Bar { label: string; value: number; title: string }

// Bars is a bar chart, with its numbers as a table for those who cannot see it.
export function Bars({ bars, label, every }: { bars: Bar[]; label: string; every: number }) {
  const top = nice(Math.max(1, ...bars.map((b) => b.value)));
  const step = 1000 / Math.max(1, bars.length);
  const y = (v: number) => 100 * (1 - v / top);
  return (
    <>
      <div class="chart" role="img" aria-label={label}>
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
          {[0, top / 2, top].map((v) => <line key={v} x1="0" x2="1000" y1={y(v)} y2={y(v)} />)}
          {bars.map((b, i) => b.value > 0 && (
            <rect key={i} x={i * step + step * 0.08} width={step * 0.84} y={Math.min(y(b.value), 99)} height={Math.max(1, 100 - y(b.value))}><title>{b.title}</title></rect>
          ))}
        </svg>
        {[0, top / 2, top].map((v) => <span key={v} class="y" aria-hidden="true" style={{ top: `${y(v)}%` }}>{short(v)}</span>)}
        {bars.map((b, i) => i % every === 0 && <span key={i} class="x" aria-hidden="true" style={{ left: `${i * step / 10}%` }}>{b.label}</span>)}
      </div>
      <details class="as-table">
        <summary>As a table</summary>
        <Table caption={label} head={["From", "Timers"]}>
          {bars.filter((b) => b.value > 0).map((b) => <tr key={b.label + b.title}><td>{b.label}</td><td class="num">{b.value}</td></tr>)}
        </Table>
      </details>
    </>
  );
}

function nice(n: number): number {
  const power = 10 ** Math.floor(Math.log10(n));
  for (const f of [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10]) if (f * power >= n) return Math.max(2, f * power);
  return n;
}

export function short(n: number): string {
  if (n >= 1e6) return `${+(n / 1e6).toFixed(1)}M`;
  if (n >= 1000) return `${+(n / 1e3).toFixed(1)}k`;
  return String(+n.toFixed(1));
}

// Spark is a small line of the last values.
export function Spark({ values }: { values: number[] }) {
  if (values.length < 2) return <svg class="spark" viewBox="0 0 100 24" aria-hidden="true" />;
  const most = Math.max(...values, 1e-9);
  const points = values.map((v, i) => `${(i / (values.length - 1) * 100).toFixed(1)},${(22 - v / most * 20).toFixed(1)}`);
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,24 ${points.join(" ")} 100,24`} class="area" />
      <polyline points={points.join(" ")} class="line" />
    </svg>
  );
}

export function Tile({ label, value, hint, kind = "", spark, href }: {
  label: string; value: ComponentChildren; hint?: ComponentChildren; kind?: string; spark?: number[]; href?: string;
}) {
  const inner = <><span class="tile-label">{label}</span><span class="tile-value">{value}</span><span class="tile-hint">{hint}</span>{spark && <Spark values={spark} />}</>;
  return href ? <a class={`tile ${kind}`} href={href}>{inner}</a> : <div class={`tile ${kind}`}>{inner}</div>;
}
