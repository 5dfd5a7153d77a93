/** Starts the real service for tests, with a test clock. The program is the one in the environment variable TIMERBUS_BINARY, or `timerbus` on PATH. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Timerbus } from "./client.js";
import type { DurationInput } from "./time.js";
import type { TestClock } from "./types.js";

/** A service for tests. */
export interface TestService {
  readonly url: string;
  /**
   * Moves the test clock forward by a duration, such as "30d", and returns when no timer is due. It sends no credential; the method advance of
   * the clock of a client does.
   */
  advance(by: DurationInput): Promise<TestClock>;
  /** Stops the service, and removes its data. */
  stop(): Promise<void>;
}

/**
 * Runs `timerbus dev --test-clock` on a free port with an empty data folder. args are further arguments. The clock runs at normal speed between
 * calls of advance; "--test-clock=false" starts a service on the machine's clock.
 */
export async function startService(...args: string[]): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), "timerbus-test-"));
  const binary = process.env["TIMERBUS_BINARY"] ?? "timerbus";
  // Settings of the caller are no settings of this service.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TIMERBUS_")));
  const own = ["dev", "--data", folder, "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-format", "json", "--test-clock"];
  const child = spawn(binary, [...own, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const lines: string[] = [];
  const url = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => {
      lines.push(`${error.message}: want timerbus on PATH, or its path in TIMERBUS_BINARY`);
      resolve(undefined);
    });
    child.once("exit", () => resolve(undefined));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        const found = /^ *HTTP API *(http:\/\/\S+)/.exec(line);
        if (found) resolve(found[1]);
      });
    }
  });
  if (url === undefined) {
    await stop();
    throw new Error(`the service did not start:\n${lines.slice(-20).join("\n")}`);
  }
  return { url, advance: (by) => new Timerbus(url).clock.advance({ by }), stop };
}
