/** Golden messages of schemas/testdata, which the encoder of the service must produce, and events of the real service over NATS. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers as natsHeaders } from "@nats-io/transport-node";
import type { KafkaMessage } from "kafkajs";
import { Timerbus } from "timerbus";
import { decodeEvent, InvalidEvent, type TimerbusEvent } from "timerbus/events";
import { startService } from "timerbus/testing";
import { describe, expect, test } from "vitest";
import { check } from "./scripts.js";

interface Layout {
  headers: Record<string, string>;
  body: string;
}

interface Vector {
  event: Record<string, unknown> & { id: string; source: string; type: string; time: string; data: Record<string, unknown> };
  structured: Layout;
  binary: Layout;
}

const folder = new URL("../../../schemas/testdata/", import.meta.url);

/** The types of events, and their kinds. */
const kinds: Record<string, TimerbusEvent["kind"]> = {
  "timerbus.timer.fired": "fired",
  "timerbus.timer.result": "result",
  "timerbus.timer.dead": "dead",
  "timerbus.timer.parked": "dead",
  "timerbus.command.applied": "answer",
  "timerbus.command.refused": "answer",
};

/** The golden messages of the topics that Timerbus publishes to, by the name of their file. */
const golden = new Map<string, Vector>();
for (const file of readdirSync(folder)) {
  const vector = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Partial<Vector>;
  if (vector.event !== undefined && vector.event.type in kinds) golden.set(file.replace(".json", ""), vector as Vector);
}

function vector(name: string): Vector {
  const found = golden.get(name);
  if (found === undefined) throw new Error(`there is no golden message ${name}`);
  return found;
}

function decoded(layout: Layout): TimerbusEvent {
  return decodeEvent(layout.headers, new TextEncoder().encode(layout.body));
}

test("there is a golden message of each type", () => {
  expect(new Set([...golden.values()].map((one) => one.event.type))).toEqual(new Set(Object.keys(kinds)));
});

test.each([...golden.keys()])("the golden message %s", (name) => {
  const { event, structured, binary } = vector(name);
  const got = decoded(structured);
  expect(decoded(binary)).toEqual(got);
  expect(got).toMatchObject({ kind: kinds[event.type], id: event.id, source: event.source, type: event.type, time: new Date(event.time) });
  expect([got.subject, got.correlationId]).toEqual([event["subject"], event["correlationid"]]);
  check(event.data, got.data, name);
  if (got.kind === "fired") expect(got.data.webhookId).toBe(event.id);
});

test("the kind of an event is the type of its data", () => {
  const dead = decoded(vector("dead-bytes").binary);
  if (dead.kind !== "dead") throw new Error(`the kind is ${dead.kind}`);
  expect([dead.data.status, dead.data.retryPolicy.initialInterval, dead.data.request?.bodyBase64]).toEqual(["dead", 30_000, "AP8="]);
  const failed = decoded(vector("result-failed").structured);
  if (failed.kind !== "result") throw new Error(`the kind is ${failed.kind}`);
  expect(failed.data.nextAt).toEqual(new Date("2026-01-01T00:01:00.250Z"));
});

test("messages of the usual clients", () => {
  const { structured, binary } = vector("fired-plain");
  const nats = natsHeaders();
  for (const [name, value] of Object.entries(structured.headers)) nats.set(name, value);
  expect(decodeEvent(nats, Buffer.from(structured.body))).toEqual(decoded(structured));
  const message: KafkaMessage = {
    key: null,
    value: Buffer.from(binary.body),
    headers: { ...Object.fromEntries(Object.entries(binary.headers).map(([name, value]) => [name, Buffer.from(value)])), other: ["a", "b"] },
    timestamp: "0",
    attributes: 0,
    offset: "0",
  };
  expect(decodeEvent(message.headers, message.value)).toEqual(decoded(structured));
});

test("the content type decides the mode", () => {
  const { event, structured, binary } = vector("fired");
  const { "content-type": _, ...attributes } = structured.headers;
  // Without a content type the attributes of NATS, which are percent-encoded, select binary mode.
  expect(decodeEvent(attributes, JSON.stringify(event.data)).subject).toBe("default/Bestellung 17/ä <%>");
  expect(decodeEvent(undefined, structured.body)).toEqual(decoded(structured));
  const upper = Object.fromEntries(Object.entries(binary.headers).map(([name, value]) => [name.toUpperCase(), value]));
  expect(decodeEvent(upper, binary.body)).toEqual(decoded(structured));
});

function changed(attributes: Record<string, unknown>): string {
  return JSON.stringify({ ...vector("fired-plain").event, ...attributes });
}

test("values of later releases are kept", () => {
  const later = decodeEvent(null, changed({ type: "timerbus.timer.snoozed", more: 1 }));
  expect(later).toMatchObject({ kind: "unknown", type: "timerbus.timer.snoozed", data: vector("fired-plain").event.data });
  const result = vector("result-done").event;
  const event = decodeEvent(null, JSON.stringify({ ...result, data: { ...result.data, outcome: "postponed", more: 1 } }));
  if (event.kind !== "result") throw new Error(`the kind is ${event.kind}`);
  expect(event.data.outcome).toBe("postponed");
});

describe("other messages are refused", () => {
  test.each<[string | Uint8Array | null, string]>([
    [null, "JSON"],
    [Uint8Array.of(0xff), "not valid"],
    ["[]", "the body is not a JSON object"],
    [changed({ specversion: "0.3" }), 'specversion: "0.3" is not accepted: want "1.0"'],
    [changed({ id: "" }), 'id: "" is not accepted: want a string that is not empty'],
    [changed({ source: 7 }), "source: 7 is not accepted"],
    [changed({ type: undefined }), "type: undefined is not accepted"],
    [changed({ time: "yesterday" }), 'time: "yesterday" is not accepted: want RFC 3339'],
    [changed({ data_base64: "AA==" }), "data_base64 is not accepted: want JSON in data"],
    [changed({ data: undefined }), "data is not a JSON object"],
    [changed({ data: { namespace: "default" } }), "attempt is not a number"],
    [changed({ type: "timerbus.timer.result" }), "AttemptResult has no outcome"],
    [JSON.stringify({ ...vector("dead").event, data: { ...vector("dead").event.data, retryPolicy: {} } }), "retryPolicy has no maxAttempts"],
  ])("%#", (body, want) => {
    expect(() => decodeEvent(null, body)).toThrow(InvalidEvent);
    expect(() => decodeEvent(null, body)).toThrow(want);
  });

  test("a batch", () => {
    expect(() => decodeEvent({ "content-type": "application/cloudevents-batch+json" }, "[]")).toThrow("want application/cloudevents");
  });
});

test("events of the service arrive over NATS", async () => {
  const service = await startService("--nats-listen", "127.0.0.1:0");
  const connection = await connect({ servers: service.natsUrl ?? "" });
  try {
    const stream = jetstream(connection);
    const manager = await jetstreamManager(connection);
    const next = async (topic: string): Promise<TimerbusEvent> => {
      const name = `tests-${topic}`;
      await manager.consumers.add(`timerbus-${topic}`, { durable_name: name, ack_policy: AckPolicy.Explicit });
      const message = await (await stream.consumers.get(`timerbus-${topic}`, name)).next({ expires: 30_000 });
      if (message === null) throw new Error(`there is no event on ${topic} after 30 s`);
      await message.ackAck();
      return decodeEvent(message.headers, message.data);
    };
    const create = async (id: string, data: object): Promise<unknown> =>
      stream.publish("timerbus.commands", JSON.stringify({ specversion: "1.0", id, source: "tests", type: "timerbus.timer.create", data }));
    await create("c-1", { id: "order-17", executeIn: "1h", correlationId: "trace-1", payload: { order: 17 } });
    await create("c-2", { id: "order-18", executeIn: "soon" });
    const applied = await next("results");
    const refused = await next("dead");
    await new Timerbus(service.url).timers.create({
      id: "order-19",
      executeIn: "2h",
      callbackUrl: "http://127.0.0.1:1/",
      retryPolicy: { maxAttempts: 1 },
    });
    await service.advance("3h");
    const dueAt = applied.kind === "answer" ? applied.data.timer?.dueAt : undefined;
    expect(applied).toMatchObject({ kind: "answer", data: { commandId: "c-1", verb: "create", timer: { payload: { order: 17 } } } });
    expect(refused).toMatchObject({ kind: "answer", data: { commandId: "c-2", error: "INVALID_INPUT" } });
    expect(await next("fired")).toMatchObject({
      kind: "fired",
      correlationId: "trace-1",
      data: { timerId: "order-17", executeAt: dueAt, payload: { order: 17 } },
    });
    expect(await next("results")).toMatchObject({ kind: "result", data: { timerId: "order-17", outcome: "done" } });
    expect(await next("results")).toMatchObject({ kind: "result", data: { timerId: "order-19", outcome: "dead" } });
    expect(await next("dead")).toMatchObject({ kind: "dead", data: { timerId: "order-19", status: "dead", retryPolicy: { maxAttempts: 1 } } });
  } finally {
    await connection.close();
    await service.stop();
  }
}, 120_000);

test("the example prints due orders", async () => {
  const service = await startService("--nats-listen", "127.0.0.1:0");
  try {
    await new Timerbus(service.url).timers.create({ id: "order-17", executeIn: "1h", payload: { order: 17 } });
    await service.advance("1h");
    const example = new URL("../examples/due-orders.mjs", import.meta.url).pathname;
    const child = spawn(process.execPath, [example], { env: { ...process.env, NATS_URL: service.natsUrl }, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    child.kill();
    expect(line).toBe("order-17 is due: { order: 17 }");
  } finally {
    await service.stop();
  }
}, 120_000);
