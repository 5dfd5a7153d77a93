/** Starts the real service for tests. The program is the one in the environment variable TIMERBUS_BINARY, or `timerbus` on PATH. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A service for tests. */
export interface TestService {
  readonly url: string;
  /** Stops the service, and removes its data. */
  stop(): Promise<void>;
}

/** Runs `timerbus dev` on a free port with an empty data folder. args are further arguments. */
export async function startService(...args: string[]): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), "timerbus-test-"));
  const binary = process.env["TIMERBUS_BINARY"] ?? "timerbus";
  // Settings of the caller are no settings of this service.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TIMERBUS_")));
  const child = spawn(binary, ["dev", "--data", folder, "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-format", "json", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
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
  return { url, stop };
}
