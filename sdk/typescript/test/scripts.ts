/** The runner of the conformance scripts, for each runtime of JavaScript. */

import { readdirSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionFailed, parseDuration, RequestTimeout, ServiceError, Timerbus, TimerbusError } from "timerbus";
import { decode } from "../dist/esm/wire.js";

const folder = new URL("../../conformance/", import.meta.url);
const proxy = process.env["TIMERBUS_CONFORMANCE_URL"] ?? "";

export interface Step {
  name: string;
  call: string;
  request?: unknown;
  client?: { tries?: number; longest?: string; timeout?: string };
  faults?: unknown;
  expect?: unknown;
  error?: Record<string, unknown>;
  tries?: number;
  atLeast?: string;
  save?: Record<string, string>;
  until?: boolean;
}

/** Returns the steps of each script by its name. */
export function scripts(): [name: string, steps: Step[]][] {
  if (proxy === "") throw new Error("TIMERBUS_CONFORMANCE_URL is not set: run `make sdk-test-typescript`");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.map((file) => {
    const { steps } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as { steps: Step[] };
    return [file.replace(".json", ""), steps];
  });
}

/** Executes a script. */
export async function execute(steps: readonly Step[]): Promise<void> {
  const variables = { proxy };
  for (const step of steps) await run(step, variables);
}

/** Calls the proxy itself; it may be refusing connections. */
async function control(method: string, path: string, body?: unknown): Promise<unknown> {
  for (let end = Date.now() + 10_000; ; await sleep(10)) {
    try {
      return await new Promise((resolve, reject) => {
        const call = httpRequest(`${proxy}/conformance/${path}`, { method, agent: false }, (response) => {
          let text = "";
          response.on("data", (part) => (text += String(part))).on("end", () => resolve(text === "" ? undefined : JSON.parse(text)));
        });
        call.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
      });
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

type Call = (bus: Timerbus, request: never) => unknown;

/** Each call with the model of its request. */
const calls: Record<string, [model: string, call: Call]> = {
  CreateTimer: ["CreateTimerRequest", (bus, r) => bus.timers.create(r)],
  GetTimer: ["TimerSelection", (bus, r) => bus.timers.get(r)],
  UpdateTimer: ["UpdateTimerRequest", (bus, r) => bus.timers.update(r)],
  DeleteTimer: ["DeleteTimerRequest", (bus, r) => bus.timers.delete(r)],
  ListTimers: ["ListTimersRequest", (bus, r) => bus.timers.page(r)],
  AllTimers: ["ListTimersRequest", (bus, r) => listed(bus.timers.all(r))],
  CountTimers: ["CountTimersRequest", (bus, r) => bus.timers.count(r)],
  ForecastTimers: ["ForecastTimersRequest", (bus, r) => bus.timers.forecast(r)],
  GetTimerHistory: ["TimerHistoryRequest", (bus, r) => bus.timers.history(r)],
  RunTimerNow: ["RunTimerRequest", (bus, r) => bus.timers.runNow(r)],
  PauseTimer: ["PauseTimerRequest", (bus, r) => bus.timers.pause(r)],
  ResumeTimer: ["ResumeTimerRequest", (bus, r) => bus.timers.resume(r)],
  RetryTimer: ["RetryTimerRequest", (bus, r) => bus.timers.retry(r)],
  BatchCreateTimers: ["BatchCreateRequest", (bus, r) => bus.timers.createMany((r as { timers: never }).timers)],
  BatchDeleteTimers: ["BatchDeleteRequest", (bus, r) => bus.timers.deleteMany((r as { timers: never }).timers)],
  DeleteMatchingTimers: ["DeleteMatchingRequest", (bus, r) => bus.timers.deleteMatchingPage(r)],
  RescheduleMatchingTimers: ["RescheduleMatchingRequest", (bus, r) => bus.timers.rescheduleMatchingPage(r)],
  ResumeMatchingTimers: ["ResumeMatchingRequest", (bus, r) => bus.timers.resumeMatchingPage(r)],
  DeleteAllMatchingTimers: ["DeleteMatchingRequest", (bus, r) => bus.timers.deleteMatching(r)],
  RescheduleAllMatchingTimers: ["RescheduleMatchingRequest", (bus, r) => bus.timers.rescheduleMatching(r)],
  RetryAllMatchingTimers: ["RetryMatchingRequest", (bus, r) => bus.timers.retryMatching(r)],
  PauseAllMatchingTimers: ["PauseMatchingRequest", (bus, r) => bus.timers.pauseMatching(r)],
  ResumeAllMatchingTimers: ["ResumeMatchingRequest", (bus, r) => bus.timers.resumeMatching(r)],
  PurgeAllMatchingTimers: ["PurgeMatchingRequest", (bus, r) => bus.timers.purgeMatching(r)],
  PauseAllMatchingSchedules: ["PauseMatchingSchedulesRequest", (bus, r) => bus.schedules.pauseMatching(r)],
  ResumeAllMatchingSchedules: ["ResumeMatchingSchedulesRequest", (bus, r) => bus.schedules.resumeMatching(r)],
  DeleteAllMatchingSchedules: ["DeleteMatchingSchedulesRequest", (bus, r) => bus.schedules.deleteMatching(r)],
  CreateSchedule: ["CreateScheduleRequest", (bus, r) => bus.schedules.create(r)],
  GetSchedule: ["ScheduleSelection", (bus, r) => bus.schedules.get(r)],
  UpdateSchedule: ["UpdateScheduleRequest", (bus, r) => bus.schedules.update(r)],
  DeleteSchedule: ["DeleteScheduleRequest", (bus, r) => bus.schedules.delete(r)],
  ListSchedules: ["ListSchedulesRequest", (bus, r) => bus.schedules.page(r)],
  AllSchedules: ["ListSchedulesRequest", (bus, r) => listed(bus.schedules.all(r))],
  PauseSchedule: ["PauseScheduleRequest", (bus, r) => bus.schedules.pause(r)],
  ResumeSchedule: ["ScheduleSelection", (bus, r) => bus.schedules.resume(r)],
  TriggerSchedule: ["ScheduleSelection", (bus, r) => bus.schedules.trigger(r)],
  BackfillSchedule: ["BackfillScheduleRequest", (bus, r) => bus.schedules.backfillPage(r)],
  BackfillAll: ["BackfillScheduleRequest", (bus, r) => bus.schedules.backfill(r)],
  PreviewSchedule: ["PreviewScheduleRequest", (bus, r) => bus.schedules.preview(r)],
  GetScheduleHistory: ["ScheduleHistoryRequest", (bus, r) => bus.schedules.history(r)],
  BatchCreateSchedules: ["BatchCreateSchedulesRequest", (bus, r) => bus.schedules.createMany((r as { schedules: never }).schedules)],
  BatchDeleteSchedules: ["BatchDeleteSchedulesRequest", (bus, r) => bus.schedules.deleteMany((r as { schedules: never }).schedules)],
  CreateNamespace: ["CreateNamespaceRequest", (bus, r) => bus.namespaces.create(r)],
  GetNamespace: ["NamespaceSelection", (bus, r) => bus.namespaces.get(r)],
  UpdateNamespace: ["UpdateNamespaceRequest", (bus, r) => bus.namespaces.update(r)],
  DeleteNamespace: ["DeleteNamespaceRequest", (bus, r) => bus.namespaces.deleteStep(r)],
  ListNamespaces: ["ListNamespacesRequest", (bus) => bus.namespaces.all()],
  ListShards: ["ListShardsRequest", (bus, r) => bus.namespaces.shards(r)],
  ListFlows: ["ListFlowsRequest", (bus, r) => bus.namespaces.flows(r)],
  ListTargets: ["ListTargetsRequest", (bus, r) => bus.namespaces.targets(r)],
  CreateKey: ["CreateKeyRequest", (bus, r) => bus.keys.create(r)],
  RotateKey: ["RotateKeyRequest", (bus, r) => bus.keys.rotate(r)],
  RevokeKey: ["RevokeKeyRequest", async (bus, r) => ((await bus.keys.revoke(r)) as unknown) ?? {}],
  ListKeys: ["ListKeysRequest", (bus) => bus.keys.all()],
  GetCaller: ["GetCallerRequest", (bus) => bus.keys.caller()],
  AdvanceClock: ["AdvanceClockRequest", (bus, r) => bus.clock.advance(r)],
  SetClock: ["SetClockRequest", (bus, r) => bus.clock.set(r)],
  GetClock: ["GetClockRequest", (bus) => bus.clock.get()],
};

function described(error: TimerbusError): Record<string, unknown> {
  const about: Record<string, unknown> = { message: error.message, mayBeApplied: error.mayBeApplied, progress: error.progress };
  if (error instanceof ServiceError) {
    return { ...about, kind: "service", status: error.status, code: error.code, details: error.details, field: error.field };
  }
  if (error instanceof RequestTimeout) return { ...about, kind: "timeout" };
  return { ...about, kind: error instanceof ConnectionFailed ? "connection" : "other" };
}

export function check(want: unknown, got: unknown, path: string): void {
  const fail = (): never => {
    throw new Error(`${path} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  if (want === "*") {
    if (got === undefined || got === null) fail();
  } else if (want === null || want === "") {
    if (got !== undefined && got !== null && got !== "") fail();
  } else if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) fail();
    want.forEach((one, i) => check(one, (got as unknown[])[i], `${path}[${i}]`));
  } else if (typeof want === "object") {
    if (typeof got !== "object" || got === null) fail();
    for (const [name, one] of Object.entries(want)) {
      const inner = got instanceof ServiceError ? described(got) : (got as Record<string, unknown>);
      check(one, inner[name], `${path}.${name}`);
    }
  } else if (got instanceof Date) {
    if (got.getTime() !== new Date(want as string).getTime()) fail();
  } else if (typeof want === "string" && typeof got === "number") {
    if (parseDuration(want) !== got) fail();
  } else if (path.endsWith(".message")) {
    if (!String(got).includes(String(want))) fail();
  } else if (want !== got) {
    fail();
  }
}

function replaced<T>(value: T, variables: Record<string, string>): T {
  if (value === undefined) return value;
  let text = JSON.stringify(value);
  for (const [name, replacement] of Object.entries(variables)) text = text.replaceAll("${" + name + "}", replacement);
  return JSON.parse(text) as T;
}

async function attempt(step: Step, variables: Record<string, string>): Promise<void> {
  const [model, call] = calls[step.call] ?? [];
  if (model === undefined || call === undefined) throw new Error(`unknown call ${step.call}`);
  await control("POST", "faults", step.faults ?? []);
  const bus = new Timerbus(proxy, {
    token: "conformance",
    tries: step.client?.tries ?? 4,
    longestPause: step.client?.longest ?? "50ms",
    timeout: step.client?.timeout ?? "30s",
  });
  const request = decode<never>(model, replaced(step.request ?? {}, variables));
  const begin = performance.now();
  let answer: unknown;
  try {
    answer = await call(bus, request);
  } catch (error) {
    if (step.error === undefined || !(error instanceof TimerbusError)) throw error;
    check(replaced(step.error, variables), described(error), "error");
    answer = undefined;
  }
  if (step.error === undefined) {
    check(replaced(step.expect, variables), answer, "answer");
    for (const [name, field] of Object.entries(step.save ?? {})) variables[name] = String((answer as Record<string, unknown>)[field]);
  } else if (answer !== undefined) {
    throw new Error(`the answer is ${JSON.stringify(answer)}, want an error`);
  }
  if (step.atLeast !== undefined && performance.now() - begin < parseDuration(step.atLeast)) throw new Error("the call was too short");
  if (step.tries !== undefined) check({ tries: step.tries }, await control("GET", "tries"), "proxy");
}

async function run(step: Step, variables: Record<string, string>): Promise<void> {
  for (let end = Date.now() + 20_000; ; await sleep(50)) {
    try {
      return await attempt(step, variables);
    } catch (error) {
      if (step.until !== true || Date.now() > end) throw new Error(`${step.name}: ${String(error)}`, { cause: error });
    }
  }
}
