/** Conversion between the types of TypeScript and the JSON of the HTTP API. */

import { formatDuration, formatInstant, parseDuration, type DurationInput, type InstantInput } from "./time.js";
import { fields, required } from "./wire.gen.js";

type Dictionary = Record<string, unknown>;

function convert(kind: string, value: unknown, path: string, one: (kind: string, value: unknown, path: string) => unknown): unknown {
  if (value === null || value === undefined) return value;
  if (kind.endsWith("[]")) {
    return (value as unknown[]).map((item, i) => convert(kind.slice(0, -2), item, `${path}[${i}]`, one));
  }
  const inner = fields[kind];
  if (inner === undefined) return one(kind, value, path);
  const converted: Dictionary = { ...(value as Dictionary) };
  for (const name of required[kind] ?? []) {
    if (converted[name] === undefined || converted[name] === null) throw new TypeError(`${path === "" ? kind : path} has no ${name}`);
  }
  for (const [name, of] of Object.entries(inner)) {
    if (converted[name] !== undefined) converted[name] = convert(of, converted[name], path === "" ? name : `${path}.${name}`, one);
  }
  return converted;
}

/** Returns the JSON value of a request. null is sent, and undefined is left out. */
export function encode(model: string, value: object): object {
  return convert(model, value, "", (kind, one, path) => {
    switch (kind) {
      case "instant":
        return formatInstant(one as InstantInput, path);
      case "duration":
        return formatDuration(one as DurationInput, path);
      case "local":
        return String(one);
      default:
        return one;
    }
  }) as object;
}

/** Returns an answer with native values. Unknown fields are kept. */
export function decode<T>(model: string, value: unknown): T {
  return convert(model, value, "", (kind, one) => {
    switch (kind) {
      case "instant":
        return new Date(one as string);
      case "duration":
        return parseDuration(one as string);
      default:
        return one;
    }
  }) as T;
}
