/** Sends the callbacks of the conformance scripts to the receivers of each framework. */

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { receiver as expressReceiver } from "timerbus/express";
import { receiver as fastifyReceiver } from "timerbus/fastify";
import { receiver as fetchReceiver } from "timerbus/fetch";
import { receiver as honoReceiver } from "timerbus/hono";
import { receiver as nextReceiver } from "timerbus/next";
import * as webhook from "timerbus/webhook";

interface Case {
  name: string;
  signWith: "secret" | "other" | "both" | null;
  skewSeconds?: number;
  tamper?: boolean;
  rawBody?: string;
  sent?: number;
  unsigned?: boolean;
  withoutId?: boolean;
  handler: { reply: string; after?: string; at?: string } | null;
  status: number;
  body?: { ok: boolean };
  retryAfter?: string;
  handled: number;
}

const folder = new URL("../../conformance/", import.meta.url);
const callbacks = JSON.parse(readFileSync(new URL("receivers/callbacks.json", folder), "utf8")) as {
  secret: string;
  other: string;
  delivery: object;
  cases: Case[];
};

function replied(handler: Case["handler"]): webhook.Reply | void {
  switch (handler?.reply) {
    case undefined:
      return;
    case "done":
      return webhook.done();
    case "retry":
      return webhook.retry(handler?.after);
    case "reschedule":
      return webhook.reschedule(new Date(handler?.at ?? ""));
    case "stopSchedule":
      return webhook.stopSchedule();
    default:
      throw new Error("as the case says");
  }
}

type Send = (request: Request) => Promise<Response>;

async function served(server: Server, send: (url: string) => Promise<Response>): Promise<Response> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/timers`);
  } finally {
    server.close();
  }
}

async function forwarded(request: Request, url: string): Promise<Response> {
  const response = await fetch(url, { method: "POST", headers: request.headers, body: await request.arrayBuffer() });
  return new Response(await response.text(), { status: response.status, headers: response.headers });
}

const receivers: Record<string, (options: webhook.ReceiverOptions) => Send> = {
  fetch: (options) => fetchReceiver(options),
  next: (options) => nextReceiver(options).POST,
  hono: (options) => {
    const app = new Hono();
    app.post("/timers", honoReceiver(options));
    return async (request) => await app.request(request);
  },
  express: (options) => {
    const app = express();
    app.post("/timers", expressReceiver(options));
    return (request) => served(createServer(app), (url) => forwarded(request, url));
  },
  fastify: (options) => async (request) => {
    const app = fastify();
    await app.register(fastifyReceiver, { path: "/timers", ...options });
    const body = Buffer.from(await request.arrayBuffer());
    const answer = await app.inject({ method: "POST", url: "/timers", headers: Object.fromEntries(request.headers), payload: body });
    return new Response(answer.body, { status: answer.statusCode, headers: answer.headers as Record<string, string> });
  },
};

describe.each(Object.entries(receivers))("%s", (_, receiver) => {
  test.each(callbacks.cases)("$name", async (c) => {
    const deliveries: webhook.Delivery[] = [];
    const deduplication = new webhook.MemoryDeduplication();
    const send = receiver({
      secrets: c.unsigned === true ? null : callbacks.secret,
      deduplication,
      onError: () => undefined,
      handler: async (delivery) => {
        deliveries.push(delivery);
        return replied(c.handler);
      },
    });
    let body = c.rawBody ?? JSON.stringify(callbacks.delivery);
    const at = new Date(Date.now() + (c.skewSeconds ?? 0) * 1000);
    const headers: Record<string, string> = {
      "Content-Type": "application/json",
      "webhook-id": "id-1",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    };
    const secrets = c.signWith === null ? [] : c.signWith === "both" ? [callbacks.other, callbacks.secret] : [callbacks[c.signWith]];
    if (secrets.length > 0) headers["webhook-signature"] = secrets.map((one) => new Webhook(one).sign("id-1", at, body)).join(" ");
    if (c.withoutId === true) delete headers["webhook-id"];
    if (c.tamper === true) body = body.replace("order-17", "order-18");
    for (let i = 0; i < (c.sent ?? 1); i++) {
      const response = await send(new Request("http://receiver.test/timers", { method: "POST", headers, body }));
      expect(response.status).toBe(c.status);
      const text = await response.text();
      if (c.body !== undefined) expect(JSON.parse(text)).toEqual(c.body);
      expect(response.headers.get("Retry-After")).toBe(c.retryAfter ?? null);
    }
    expect(deliveries.length).toBe(c.handled);
    for (const delivery of deliveries) {
      expect(delivery).toEqual({
        webhookId: "id-1",
        namespace: "shop",
        timerId: "order-17 ä",
        scheduleId: "daily",
        executeAt: new Date("2026-01-01T00:00:00Z"),
        scheduledFor: new Date("2026-01-01T00:01:00.250Z"),
        attempt: 2,
        generation: "3706188562493276161",
        correlationId: "c-1",
        payload: { order: 17, snake_case: true },
      });
    }
    const remembered = deduplication.find("id-1");
    expect(remembered === undefined ? undefined : JSON.parse(remembered)).toEqual(c.body?.ok === true ? c.body : undefined);
  });
});

test("the body must not be parsed before the receiver of Express", async () => {
  const app = express();
  app.use(express.json());
  app.post("/timers", expressReceiver({ secrets: null, handler: () => undefined }));
  app.use(((error, _request, response, _next) => {
    (response as express.Response).status(500).send(String(error));
  }) as express.ErrorRequestHandler);
  const request = new Request("http://receiver.test/", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  const response = await served(createServer(app), (url) => forwarded(request, url));
  expect(await response.text()).toContain("register the receiver before express.json()");
});

test("a body that is too large is refused by the receiver of Express", async () => {
  const app = express();
  app.post("/timers", expressReceiver({ secrets: null, handler: () => undefined }));
  const request = new Request("http://receiver.test/", { method: "POST", body: "x".repeat((1 << 20) + 1) });
  expect((await served(createServer(app), (url) => forwarded(request, url))).status).toBe(413);
});

test("other routes of a Fastify server keep their parsers", async () => {
  const app = fastify();
  await app.register(fastifyReceiver, { path: "/timers", secrets: null, handler: () => undefined });
  app.post("/orders", async (request) => request.body);
  expect((await app.inject({ method: "POST", url: "/orders", payload: { a: 1 } })).json()).toEqual({ a: 1 });
});

test("golden signatures", () => {
  const vectors = JSON.parse(readFileSync(new URL("../../schemas/testdata/signatures.json", folder), "utf8")) as Record<string, string>[];
  for (const vector of vectors) {
    for (const secret of vector["secrets"] as unknown as string[]) {
      const at = new Date(Number(vector["webhook-timestamp"]) * 1000);
      expect(vector["webhook-signature"]?.split(" ")).toContain(new Webhook(secret).sign(vector["webhook-id"] ?? "", at, vector["body"] ?? ""));
    }
  }
});

test("secrets are required", () => {
  expect(() => new webhook.Receiver({ secrets: [], handler: () => undefined })).toThrow("secrets is empty");
});

test("MemoryDeduplication forgets the oldest", () => {
  const memory = new webhook.MemoryDeduplication(2);
  for (const id of ["a", "b", "c"]) memory.remember(id, `reply to ${id}`);
  expect(["a", "b", "c"].map((id) => memory.find(id))).toEqual([undefined, "reply to b", "reply to c"]);
});

test("an asynchronous deduplication", async () => {
  const replies = new Map<string, string>();
  let handled = 0;
  const receiver = new webhook.Receiver({
    secrets: null,
    deduplication: {
      find: async (id) => await Promise.resolve(replies.get(id) ?? null),
      remember: async (id, reply) => await Promise.resolve(replies.set(id, reply)),
    },
    handler: () => {
      handled++;
      return webhook.reschedule("2030-01-31T09:00:00Z");
    },
  });
  const first = await receiver.receive({ "webhook-id": "id-1" }, JSON.stringify(callbacks.delivery));
  expect(replies.get("id-1")).toBe(first.body);
  expect(await receiver.receive({ "webhook-id": "id-1" }, JSON.stringify(callbacks.delivery))).toEqual(first);
  expect(handled).toBe(1);
});

test("a deduplication that returns no text is refused", async () => {
  const find = (): string => ({ ok: true }) as unknown as string;
  const receiver = new webhook.Receiver({ secrets: null, deduplication: { find, remember: () => undefined }, handler: () => undefined });
  const answer = receiver.receive({ "webhook-id": "id-1" }, JSON.stringify(callbacks.delivery));
  await expect(answer).rejects.toThrow("deduplication.find returned object: want the text of remember, or null");
});
