/**
 * Starts the real service for tests, with a test clock. The program is the one in the environment variable TIMERBUS_BINARY, that of the package
 * `@timerbus/server`, or `timerbus` on PATH.
 */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { milliseconds } from "./calls.js";
import { Timerbus } from "./client.js";
import type { DurationInput } from "./time.js";
import type { TestClock } from "./types.js";

/** A service for tests. */
export interface TestService {
  readonly url: string;
  /** The address of the NATS server with the topics of events, if the service has the arguments "--nats-listen", "127.0.0.1:0". */
  readonly natsUrl: string | undefined;
  /**
   * Moves the test clock forward by a duration, such as "30d", and returns when no timer is due. It sends no credential; the method advance of
   * the clock of a client does.
   */
  advance(by: DurationInput): Promise<TestClock>;
  /** Stops the service, and removes its data. A service that has not ended after timeout, by default 30 s, is killed. */
  stop(timeout?: DurationInput): Promise<void>;
}

/** The time for the start, and by default for the stop, in ms. */
const patience = 30_000;
/** How many lines of the output an error shows. */
const shown = 20;

/**
 * Runs `timerbus dev --test-clock` on a free port with an empty data folder. args are further arguments. The clock runs at normal speed between
 * calls of advance; "--test-clock=false" starts a service on the machine's clock, and "--nats-listen", "127.0.0.1:0" one that accepts NATS
 * clients.
 */
export async function startService(...args: string[]): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), "timerbus-test-"));
  const binary = process.env["TIMERBUS_BINARY"] ?? (await packaged()) ?? "timerbus";
  // Settings of the caller are no settings of this service.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TIMERBUS_")));
  const own = ["dev", "--data", folder, "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-format", "json", "--test-clock"];
  const child = spawn(binary, [...own, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const last: string[] = [];
  // "close" comes after the last line of the output; "exit" may come before it.
  const closed = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", (error) => {
      last.push(`${error.message}: want the package @timerbus/server, timerbus on PATH, or its path in TIMERBUS_BINARY`);
      resolve();
    });
  });
  const end = async (timeout: number): Promise<void> => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), timeout);
    await closed;
    clearTimeout(late);
    await rm(folder, { recursive: true, force: true });
  };
  const addresses = new Promise<{ url: string; natsUrl: string | undefined }>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      let url: string | undefined;
      createInterface({ input: stream }).on("line", (line) => {
        if (last.push(line) > shown) last.shift();
        // The address of NATS is in the next line.
        if (url !== undefined) resolve({ url, natsUrl: /^ *NATS *(nats:\/\/\S+)/.exec(line)?.[1] });
        url ??= /^ *HTTP API *(http:\/\/\S+)/.exec(line)?.[1];
      });
    }
  });
  const late = setTimeout(() => {
    last.push(`no address after ${patience / 1000} s`);
    child.kill("SIGKILL");
  }, patience);
  const started = await Promise.race([addresses, closed]);
  clearTimeout(late);
  if (started === undefined) {
    await end(0);
    throw new Error(`the service did not start:\n${last.join("\n")}`);
  }
  return { ...started, advance: (by) => new Timerbus(started.url).clock.advance({ by }), stop: (timeout = patience) => end(milliseconds(timeout)) };
}

/** Returns the path of the program of @timerbus/server, if it is installed. */
async function packaged(): Promise<string | undefined> {
  const name = "@timerbus/server"; // a variable, because the compiler would look for the types of a literal
  let server: { path(): string };
  try {
    server = (await import(name)) as { path(): string };
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
  return server.path();
}
