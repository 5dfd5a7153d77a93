/** Creates timers while the service is killed: none that was acknowledged is lost, and none exists twice. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ServiceError, Timerbus, TimerbusError } from "timerbus";

const proxy = process.env["TIMERBUS_CONFORMANCE_URL"] ?? "";
const service = process.env["TIMERBUS_CONFORMANCE_SERVICE"] ?? "";
const kills = Number(process.env["TIMERBUS_SDK_KILLS"] ?? 2);
/** Writers with onConflict "keep", and as many with "fail". */
const writers = 4;
/** How many creates are acknowledged between two kills. */
const between = 200;

/** The generation of each timer whose create was acknowledged. */
const acknowledged = new Map<string, string>();
const unknown = new Set<string>();
const refused = new Set<string>();
const duplicates: string[] = [];
let stopped = false;

/** Creates timers one after another. */
async function write(prefix: string, onConflict: string): Promise<void> {
  const bus = new Timerbus(service, { token: "conformance", tries: 8, longestPause: 500 });
  for (let n = 1; !stopped; n++) {
    const id = `${prefix}-${n}`;
    try {
      acknowledged.set(id, (await bus.timers.create({ id, namespace: "kill", executeIn: "1d", payload: { n }, onConflict })).generation);
    } catch (error) {
      if (!(error instanceof TimerbusError)) throw error;
      if (error instanceof ServiceError && error.code === "TIMER_EXISTS") {
        // With "fail", a conflict means that a try of this call was repeated after it had been applied.
        duplicates.push(id);
      } else {
        (error.mayBeApplied ? unknown : refused).add(id);
      }
    }
  }
}

/** Returns when further creates are acknowledged. */
async function more(): Promise<void> {
  const wanted = acknowledged.size + between;
  for (const end = Date.now() + 60_000; acknowledged.size < wanted; await sleep(5)) {
    if (Date.now() > end) throw new Error(`${acknowledged.size} creates are acknowledged, want ${wanted} within 60 s`);
  }
}

test("no create is lost or doubled", { timeout: 60_000 * (kills + 2) }, async () => {
  const bus = new Timerbus(service, { token: "conformance" });
  await bus.namespaces.create({ name: "kill" });
  const all = Promise.all(["keep", "fail"].flatMap((mode) => Array.from({ length: writers }, (_, n) => write(`${mode}-${n}`, mode))));
  const killed = async (): Promise<void> => {
    for (let n = 0; n < kills; n++) {
      await more();
      const answer = await fetch(`${proxy}/conformance/kill`, { method: "POST" });
      if (!answer.ok) throw new Error(`kill: ${await answer.text()}`);
    }
    await more();
  };
  try {
    await Promise.race([killed(), all]); // writers end first only with an error
  } finally {
    stopped = true;
  }
  await all;
  const present = new Map<string, string>();
  for await (const timer of bus.timers.all({ namespace: "kill", limit: 1000 })) {
    if (present.has(timer.id)) throw new Error(`${timer.id} exists twice`);
    present.set(timer.id, timer.generation);
  }
  console.log(
    `${kills} kills: ${acknowledged.size} acknowledged, ${unknown.size} unknown, ${refused.size} refused, ${present.size} present`,
  );
  const lost = [...acknowledged].filter(([id, generation]) => present.get(id) !== generation);
  expect(lost, "acknowledged and lost").toEqual([]);
  expect(duplicates).toEqual([]);
  const wrong = [...present.keys()].filter((id) => !acknowledged.has(id) && !unknown.has(id));
  expect(wrong, "calls that were certainly not applied, and were").toEqual([]);
  expect(unknown.size, "no call was in flight at a kill: the test proves nothing").toBeGreaterThan(0);
});
