/** Times, durations, and the service of timerbus/testing. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConnectionFailed, formatDuration, parseDuration, Timerbus, type CreateTimerRequest, type Status } from "timerbus";
import { receiver } from "timerbus/express";
import { startService } from "timerbus/testing";
import type { Delivery } from "timerbus/webhook";
import { encode } from "../src/wire.js";

test.each([
  ["0s", 0],
  ["250ms", 250],
  ["1h30m0s", 5_400_000],
  ["1d12h", 129_600_000],
  ["1.5s", 1500],
  ["-1h", -3_600_000],
])("duration %s", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
  expect(parseDuration(formatDuration(milliseconds, "x"))).toBe(milliseconds);
});

test.each(["", "1", "h", "1 h", "1h-", "P1D"])("%j is no duration", (text) => {
  expect(() => parseDuration(text)).toThrow("want numbers with units");
});

test("requests are encoded by their types", () => {
  const request: CreateTimerRequest = {
    id: "a",
    executeAt: new Date("2030-01-31T10:00:00+01:00"),
    window: { total: () => 1500 },
    expiresAt: { epochMilliseconds: 1_896_080_400_000 },
    retryPolicy: { maxInterval: 60_000 },
    payload: { executeAt: "stays" },
    flowKey: null,
    topic: undefined,
  };
  expect(JSON.parse(JSON.stringify(encode("CreateTimerRequest", request)))).toEqual({
    id: "a",
    executeAt: "2030-01-31T09:00:00.000Z",
    window: "1500ms",
    expiresAt: "2030-01-31T09:00:00.000Z",
    retryPolicy: { maxInterval: "60000ms" },
    payload: { executeAt: "stays" },
    flowKey: null,
  });
  expect(() => encode("CreateTimerRequest", { retryPolicy: { maxInterval: NaN } })).toThrow("retryPolicy.maxInterval: NaN is not accepted");
  expect(() => encode("CreateTimerRequest", { executeAt: new Date("x") })).toThrow("executeAt: an invalid Date");
});

test("enumerations are open", () => {
  const status: Status = "dreaming";
  expect(status).toBe("dreaming");
});

test("a base URL is checked", () => {
  expect(() => new Timerbus("localhost")).toThrow('base URL "localhost" is not accepted');
});

test("a call is not applied if no address accepted the connection", async () => {
  const failed = async (...causes: object[]): Promise<boolean> => {
    const cause = new AggregateError(causes.map((one) => Object.assign(new Error("failed"), one)));
    const bus = new Timerbus("http://127.0.0.1:1", { tries: 1, fetch: () => Promise.reject(new TypeError("fetch failed", { cause })) });
    const error: unknown = await bus.timers.get({ id: "a" }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ConnectionFailed);
    return (error as ConnectionFailed).mayBeApplied;
  };
  const refused = { code: "ECONNREFUSED", syscall: "connect" };
  expect(await failed({ code: "ETIMEDOUT", syscall: "connect" }, refused)).toBe(false);
  expect(await failed({ code: "ETIMEDOUT", syscall: "read" }, refused)).toBe(true);
});

test("a call ends with its signal", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bus = new Timerbus(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const abort = new AbortController();
  const call = bus.timers.get({ id: "a" }, { signal: abort.signal });
  server.once("request", () => abort.abort(new Error("enough")));
  await expect(call).rejects.toThrow("enough");
  server.closeAllConnections();
  server.close();
});

test("a signed callback arrives", { timeout: 60_000 }, async () => {
  const secret = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
  const deliveries: Delivery[] = [];
  const receive = receiver({ secrets: secret, handler: (delivery) => void deliveries.push(delivery) });
  const server = createServer((request, response) => receive(request, response, console.error));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const service = await startService("--secret-key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  try {
    const bus = new Timerbus(service.url);
    await bus.namespaces.update({ name: "default", settings: { secrets: { set: secret } } });
    const callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await bus.timers.create({ id: "hello", executeIn: 50, callbackUrl, payload: { n: 1 } });
    await vi.waitFor(async () => expect((await bus.timers.get({ id: "hello" })).status).toBe("done"), 30_000);
    expect(deliveries).toMatchObject([{ timerId: "hello", payload: { n: 1 }, attempt: 1 }]);
  } finally {
    server.close();
    await service.stop();
  }
});

describe("a service of timerbus/testing", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "timerbus-program-"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  /** Replaces the service by a shell script. */
  function program(script: string): void {
    const file = join(folder, "timerbus");
    writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    vi.stubEnv("TIMERBUS_BINARY", file);
  }

  test("a failed start shows the end of the output", async () => {
    program("seq 1000; exit 1");
    const last = Array.from({ length: 20 }, (_, i) => 981 + i).join("\n");
    await expect(startService()).rejects.toThrow(new Error(`the service did not start:\n${last}`));
  });

  test("a missing program", async () => {
    vi.stubEnv("TIMERBUS_BINARY", join(folder, "missing"));
    await expect(startService()).rejects.toThrow("want the package @timerbus/server, timerbus on PATH, or its path in TIMERBUS_BINARY");
  });

  test("a service that does not stop is killed", async () => {
    // exec keeps the ignored signal.
    program("trap '' TERM; echo ' HTTP API  http://127.0.0.1:1'; echo ' NATS  in this process only'; exec sleep 600");
    const service = await startService();
    expect([service.url, service.natsUrl]).toEqual(["http://127.0.0.1:1", undefined]);
    const begin = performance.now();
    await service.stop("500ms");
    expect(performance.now() - begin).toBeGreaterThan(450);
  });
});
