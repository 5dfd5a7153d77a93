/** Executes the conformance scripts, and receives a signed callback with timerbus/fetch, in Deno or Bun. */

import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { Timerbus } from "timerbus";
import { receiver } from "timerbus/fetch";
import type { Delivery } from "timerbus/webhook";
import { execute, scripts } from "./scripts.js";

type Handler = (request: Request) => Promise<Response>;

/** The parts of the runtimes that this program uses. */
interface Runtimes {
  Deno?: {
    version: { deno: string };
    serve(options: { hostname: string; port: number; onListen: () => void }, handler: Handler): { addr: { port: number } };
  };
  Bun?: {
    version: string;
    serve(options: { hostname: string; port: number; fetch: Handler }): { port: number };
  };
}

const { Deno, Bun } = globalThis as unknown as Runtimes;

function serve(handler: Handler): number {
  const address = { hostname: "127.0.0.1", port: 0 };
  if (Deno !== undefined) return Deno.serve({ ...address, onListen: () => undefined }, handler).addr.port;
  if (Bun !== undefined) return Bun.serve({ ...address, fetch: handler }).port;
  throw new Error("the runtime is neither Deno nor Bun");
}

/** Returns the deliveries after one is done. */
async function callback(): Promise<Delivery[]> {
  const secrets = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
  const deliveries: Delivery[] = [];
  const port = serve(receiver({ secrets, handler: (delivery) => void deliveries.push(delivery) }));
  const bus = new Timerbus(process.env["TIMERBUS_CONFORMANCE_SERVICE"], { token: "conformance" });
  await bus.namespaces.create({ name: "runtime", settings: { secrets: { set: secrets } } });
  const timer = { namespace: "runtime", id: "signed" };
  await bus.timers.create({ ...timer, executeIn: 50, callbackUrl: `http://127.0.0.1:${port}/`, payload: { n: 1 } });
  for (const end = Date.now() + 30_000; (await bus.timers.get(timer)).status !== "done"; await sleep(20)) {
    if (Date.now() > end) throw new Error("the callback is not done after 30 s");
  }
  return deliveries;
}

const all = scripts();
let steps = 0;
for (const [name, script] of all) {
  await execute(script).catch((error: unknown) => {
    throw new Error(`${name}: ${String(error)}`, { cause: error });
  });
  steps += script.length;
}
const deliveries = await callback();
if (deliveries.length !== 1 || deliveries[0]?.timerId !== "signed") throw new Error(`the deliveries are ${JSON.stringify(deliveries)}`);
const runtime = Deno === undefined ? `Bun ${Bun?.version}` : `Deno ${Deno.version.deno}`;
console.log(`${runtime}: ${all.length} scripts with ${steps} steps, and a signed callback`);
process.exit(0); // the server and idle connections keep the runtime alive
