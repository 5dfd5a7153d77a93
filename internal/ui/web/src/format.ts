// Texts for times, durations and numbers.
import type { FlowLimit } from "./api";
import { scheduleZone, zone } from "./state";

// localZone returns the IANA name of the browser's time zone.
export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const formats = new Map<string, Intl.DateTimeFormat>();

// shownZone is the time zone in which times are shown: local, UTC, or an IANA name.
function shownZone(): string {
  if (zone.value === "utc") return "UTC";
  return zone.value === "schedule" && scheduleZone.value ? scheduleZone.value : "local";
}

const two = (n: number): string => String(n).padStart(2, "0");

// time returns a time such as 2030-01-31 09:00:00. Formatters of Intl take milliseconds to create, so the usual zones do without.
export function time(at: string | number, timeZone = shownZone()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  switch (timeZone) {
    case "UTC": return date.toISOString().slice(0, 19).replace("T", " ");
    case "local":
      return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
        `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    default: {
      let format = formats.get(timeZone);
      if (!format) {
        format = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone });
        formats.set(timeZone, format);
      }
      return format.format(date);
    }
  }
}

// clockTime is the hour and minute of a time.
export function clockTime(at: number): string {
  return time(at).slice(11, 16);
}

export function duration(ms: number): string {
  const abs = Math.abs(ms);
  if (abs < 1) return abs === 0 ? "0 ms" : "< 1 ms";
  if (abs < 1000) return `${Math.round(abs)} ms`;
  const s = abs / 1000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172_800) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86_400)} d`;
}

export const seconds = (s: number | undefined): string => s === undefined ? "–" : duration(s * 1000);

export function relative(at: string | number, now: number): string {
  const ms = (typeof at === "number" ? at : Date.parse(at)) - now;
  const abs = Math.abs(ms);
  if (abs < 500) return "now";
  const text = abs < 120_000 ? `${Math.round(abs / 1000)} s` : duration(abs);
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

// number groups the digits before the point, as in 12,345.678. The first Intl.NumberFormat of a page takes 20 ms and more to create.
export const number = (n: number): string => String(Number(n.toFixed(3))).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ",");

export function counted(n: number, noun: string): string {
  return `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
}

const units: Record<string, number> = { ns: 1e-6, us: 1e-3, "µs": 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

// milliseconds parses a duration of the API, such as 1h30m0s.
export function milliseconds(text: string): number {
  let sum = 0;
  for (const [, value = "0", unit = "ms"] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g)) sum += Number(value) * (units[unit] ?? 0);
  return sum;
}

// span shows a duration of the API without parts that are zero, and whole days as days: 720h0m0s is 30d.
export function span(text: string | undefined): string {
  if (!text) return "";
  const [, hours] = /^(\d+)h(?:0m0s)?$/.exec(text) ?? [];
  if (hours && Number(hours) > 24 && Number(hours) % 24 === 0) return `${Number(hours) / 24}d`;
  return text.replace(/(\d+h)0m0s$/, "$1").replace(/(\d+m)0s$/, "$1");
}

export function limitText(of: FlowLimit): string {
  return [of.rate && `${number(of.rate.count)} per ${span(of.rate.per)}`, of.concurrency && `${number(of.concurrency)} at a time`].filter(Boolean).join(", ");
}

// inputZone is the zone of inputs of type datetime-local.
export const inputZone = (): string => zone.value === "utc" ? "UTC" : "local";

// inputTime returns the value of an input of type datetime-local for an instant, in the shown zone.
export function inputTime(at: string | undefined): string {
  return at ? time(at, zone.value === "utc" ? "UTC" : "local").replace(" ", "T") : "";
}

// instant returns the instant of such a value; undefined for an empty or incomplete one.
export function instant(value: string): string | undefined {
  if (!value) return undefined;
  const date = new Date(zone.value === "utc" ? `${value}Z` : value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

// hostOf returns the host of a URL as the filter callbackHost compares it: as it is written, with its port, in lower case.
export function hostOf(url: string): string {
  const [, authority] = /^[^/?#]*\/\/([^/?#]*)/.exec(url) ?? [];
  return authority === undefined ? url : authority.slice(authority.lastIndexOf("@") + 1).toLowerCase();
}

// shell quotes a word for a POSIX shell.
export function shell(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
