/**
 * Events of the topics of Timerbus on NATS and Kafka: decodeEvent returns a typed event for the headers and the body of a message. It takes
 * what the usual clients return, and depends on none of them.
 */

import type { AttemptResult, CommandAnswer, DeadLetter, EventType } from "./types.js";
import { parseDelivery, type Delivery } from "./webhook.js";
import { decode } from "./wire.js";

/** The attributes that all events have. */
export interface EventAttributes {
  /** A repeated event has the same id. */
  readonly id: string;
  /** The cluster that sent the event. */
  readonly source: string;
  readonly type: EventType;
  /** namespace/timerId, or namespace/scheduleId in the answer to a command for a schedule. */
  readonly subject?: string;
  readonly time?: Date;
  readonly correlationId?: string;
}

/** A timer is due. Its id is the webhookId of the delivery. */
export interface FiredEvent extends EventAttributes {
  readonly kind: "fired";
  readonly data: Delivery;
}

/** An attempt has ended. */
export interface ResultEvent extends EventAttributes {
  readonly kind: "result";
  readonly data: AttemptResult;
}

/** A timer is dead, or parked: data.status says which. */
export interface DeadEvent extends EventAttributes {
  readonly kind: "dead";
  readonly data: DeadLetter;
}

/** A command was applied, or refused: then data.error is present. */
export interface AnswerEvent extends EventAttributes {
  readonly kind: "answer";
  readonly data: CommandAnswer;
}

/** An event with a type that this release does not know, with its JSON. */
export interface UnknownEvent extends EventAttributes {
  readonly kind: "unknown";
  readonly data: unknown;
}

/** An event; kind says which. */
export type TimerbusEvent = FiredEvent | ResultEvent | DeadEvent | AnswerEvent | UnknownEvent;

/** A message is not an event of Timerbus: it is no CloudEvent, or its data is not that of its type. */
export class InvalidEvent extends Error {
  override readonly name = "InvalidEvent";
}

type HeaderValue = string | Uint8Array | readonly (string | Uint8Array)[] | null | undefined;

/** The headers of a message, as clients of NATS and Kafka return them. */
export type EventHeaders = Iterable<readonly [string, HeaderValue]> | Readonly<Record<string, HeaderValue>> | null | undefined;

type Dictionary = Readonly<Record<string, unknown>>;

/**
 * Returns the event of a message in structured mode (NATS) or in binary mode (Kafka). Unknown attributes and fields are ignored. Throws
 * InvalidEvent for a message that is not an event of Timerbus.
 *
 * @example
 * decodeEvent(message.headers, message.data); // @nats-io/transport-node
 * decodeEvent(message.headers, message.value); // kafkajs, @confluentinc/kafka-javascript
 */
export function decodeEvent(headers: EventHeaders, body: string | Uint8Array | null | undefined): TimerbusEvent {
  try {
    const [attributes, data] = parts(headers, body ?? "");
    return typed(attributes, data);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InvalidEvent(`the message is not an event of Timerbus: ${reason}`, { cause: error });
  }
}

function parts(headers: EventHeaders, body: string | Uint8Array): [attributes: Dictionary, data: unknown] {
  const [attributes, contentType] = attributesOf(headers);
  const mediaType = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  const parsed: unknown = JSON.parse(typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body));
  // The content type decides the mode. Without one, headers with the required attributes select binary mode.
  const whole = mediaType.startsWith("application/cloudevents");
  if (whole && mediaType !== "application/cloudevents" && mediaType !== "application/cloudevents+json") {
    throw new TypeError(`content-type: ${JSON.stringify(contentType)} is not accepted: want application/cloudevents+json or application/json`);
  }
  if (!whole && "specversion" in attributes && "type" in attributes) return [attributes, parsed];
  if (!isObject(parsed)) throw new TypeError("the body is not a JSON object");
  if ("data_base64" in parsed) throw new TypeError("data_base64 is not accepted: want JSON in data");
  return [parsed, parsed["data"]];
}

/** Returns the attributes in the headers, and the content type. */
function attributesOf(headers: EventHeaders): [attributes: Record<string, string>, contentType: string] {
  const attributes: Record<string, string> = {};
  let contentType = "";
  const given = headers ?? {};
  for (const [name, value] of Symbol.iterator in given ? (given as Iterable<readonly [string, HeaderValue]>) : Object.entries(given)) {
    const lower = name.toLowerCase();
    if (lower === "content-type") contentType = textOf(value);
    else if (lower.startsWith("ce_")) attributes[lower.slice(3)] = textOf(value);
    else if (lower.startsWith("ce-")) attributes[lower.slice(3)] = percentDecoded(textOf(value)); // on NATS
  }
  return [attributes, contentType];
}

function textOf(value: HeaderValue): string {
  const first = Array.isArray(value) ? (value as readonly (string | Uint8Array)[])[0] : (value as string | Uint8Array | null | undefined);
  return first === undefined || first === null ? "" : typeof first === "string" ? first : new TextDecoder().decode(first);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function typed(attributes: Dictionary, data: unknown): TimerbusEvent {
  const version = attributes["specversion"];
  if (version !== "1.0") throw new TypeError(`specversion: ${JSON.stringify(version)} is not accepted: want "1.0"`);
  const text = (name: string): string => {
    const value = attributes[name];
    if (typeof value === "string" && value !== "") return value;
    throw new TypeError(`${name}: ${JSON.stringify(value)} is not accepted: want a string that is not empty`);
  };
  const has = (name: string): boolean => attributes[name] !== undefined && attributes[name] !== null;
  const type = text("type");
  const common = {
    id: text("id"),
    source: text("source"),
    type,
    ...(has("subject") ? { subject: text("subject") } : {}),
    ...(has("time") ? { time: instant(text("time")) } : {}),
    ...(has("correlationid") ? { correlationId: text("correlationid") } : {}),
  };
  switch (type) {
    case "timerbus.timer.fired":
      return { ...common, kind: "fired", data: parseDelivery(common.id, objectOf(data)) };
    case "timerbus.timer.result":
      return { ...common, kind: "result", data: decode<AttemptResult>("AttemptResult", objectOf(data)) };
    case "timerbus.timer.dead":
    case "timerbus.timer.parked":
      return { ...common, kind: "dead", data: decode<DeadLetter>("DeadLetter", objectOf(data)) };
    case "timerbus.command.applied":
    case "timerbus.command.refused":
      return { ...common, kind: "answer", data: decode<CommandAnswer>("CommandAnswer", objectOf(data)) };
    default:
      return { ...common, kind: "unknown", data };
  }
}

function instant(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new TypeError(`time: ${JSON.stringify(text)} is not accepted: want RFC 3339`);
  return date;
}

function isObject(value: unknown): value is Dictionary {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(data: unknown): Dictionary {
  if (!isObject(data)) throw new TypeError("data is not a JSON object");
  return data;
}
