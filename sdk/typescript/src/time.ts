/** Times and durations. */

/** A duration in answers, in milliseconds. */
export type Milliseconds = number;

/** A duration in requests: milliseconds, a text such as "1h30m", or a Temporal.Duration. */
export type DurationInput = Milliseconds | string | { total(unit: "milliseconds"): number };

/** An instant in requests: a Date, a Temporal.Instant or Temporal.ZonedDateTime, or RFC 3339. */
export type InstantInput = Date | string | { readonly epochMilliseconds: number };

/** A time without an offset: ISO 8601 such as "2030-03-31T09:00:00", or a Temporal.PlainDateTime. */
export type LocalInput = string | { toPlainDate(): unknown; toString(): string };

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, "µs": 1e-3, ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

/** Parses a duration of the API, such as "1h30m", to milliseconds. */
export function parseDuration(text: string): Milliseconds {
  const negative = text.startsWith("-");
  const digits = negative ? text.slice(1) : text;
  if (digits === "0") return 0;
  let total = 0;
  let length = 0;
  for (const [part, number, unit] of digits.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/gy)) {
    total += Number(number) * (units[unit ?? ""] ?? NaN);
    length += part.length;
  }
  if (length === 0 || length !== digits.length) {
    throw new RangeError(`${JSON.stringify(text)} is not a duration: want numbers with units, such as "1h30m"`);
  }
  return negative ? -total : total;
}

/** Writes a duration as the API accepts it. */
export function formatDuration(value: DurationInput, path: string): string {
  if (typeof value === "string") return value; // the service checks it
  const milliseconds = typeof value === "number" ? value : value.total("milliseconds");
  if (!Number.isFinite(milliseconds)) {
    throw new RangeError(`${path}: ${String(value)} is not accepted: want milliseconds, a text such as "1h30m", or a Temporal.Duration`);
  }
  return `${Math.trunc(milliseconds)}ms`;
}

/** Returns the Date of an instant. */
export function dateOf(instant: InstantInput): Date {
  if (instant instanceof Date) return instant;
  return new Date(typeof instant === "string" ? instant : instant.epochMilliseconds);
}

/** Writes an instant as the API accepts it. */
export function formatInstant(value: InstantInput, path: string): string {
  if (typeof value === "string") return value; // the service checks it
  const date = dateOf(value);
  if (Number.isNaN(date.getTime())) {
    throw new RangeError(`${path}: an invalid Date is not accepted: want a Date, a Temporal.Instant, or RFC 3339`);
  }
  return date.toISOString();
}
