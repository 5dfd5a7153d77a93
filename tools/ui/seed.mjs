// Data for the pages: timers in every state, schedules, flows, and dead timers of several kinds.
import { until } from "./lib.mjs";

const day = 24 * 3_600_000;

export async function seed(api, receiver) {
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  const create = (body) => api("timers/create", { retryPolicy: { maxAttempts: 1 }, ...body });
  await api("namespaces/create", { name: "billing", preset: "small" });
  await api("namespaces/update", {
    name: "default", settings: { flows: [{ pattern: "tenant-*", rate: { count: 20, per: "1s" }, concurrency: 4 }], quota: { maxPending: 1_000_000 } },
  });
  const hours = [1, 2, 2, 3, 5, 8, 8, 8, 9, 12, 13, 13, 14, 20, 22];
  const timers = hours.map((h, i) => ({
    id: `invoice-${2000 + i}`, executeAt: at(h * 3_600_000 + i * 60_000), callbackUrl: `${receiver}/200`, payload: { invoice: 2000 + i, amount: "119.00" },
  }));
  for (let i = 0; i < 300; i++) {
    timers.push({ id: `reminder-${i}`, executeAt: at((day * ((i * i) % 997)) / 997 + 300_000), callbackUrl: `${receiver}/200`, correlationId: "reminders" });
  }
  for (let i = 0; i < 24; i++) timers.push({ id: `charge-${i}`, executeIn: "0s", callbackUrl: `${receiver}/500`, retryPolicy: { maxAttempts: 1 }, payload: { charge: i } });
  for (let i = 0; i < 9; i++) timers.push({ id: `notify-${i}`, executeIn: "0s", callbackUrl: `${receiver}/410`, retryPolicy: { maxAttempts: 1 } });
  for (let i = 0; i < 5; i++) timers.push({ id: `hook-${i}`, executeIn: "0s", callbackUrl: "http://127.0.0.1:9/", retryPolicy: { maxAttempts: 1 } });
  for (let i = 0; i < 40; i++) timers.push({ id: `flow-${i}`, executeIn: "0s", callbackUrl: `${receiver}/200`, flowKey: `tenant-${i % 4}` });
  const { failed } = await api("timers/batch-create", { timers });
  if (failed) throw new Error(`${failed} timers were refused`);
  await create({ id: "retried", executeIn: "0s", callbackUrl: `${receiver}/503`, retryPolicy: { maxAttempts: 5, initialInterval: "200ms", backoffMultiplier: 1.5 }, payload: { big: "value" } });
  await create({
    id: "order-1842", executeIn: "2h", callbackUrl: `${receiver}/200`, headers: { "X-Tenant": "blue" }, flowKey: "tenant-1",
    payload: { order: 1842, items: [{ sku: "A-1", count: 2 }], note: "leave it at the door" }, retryPolicy: { maxAttempts: 10 },
  });
  await create({ id: "waits", executeIn: "3h", callbackUrl: `${receiver}/200` });
  await api("timers/pause", { id: "waits", note: "until the migration is done" });
  await api("schedules/create", {
    id: "daily-report", specs: [{ cron: "30 2 * * *" }], timeZone: "Europe/Berlin", repeated: "both", timer: { callbackUrl: `${receiver}/200`, payload: { report: "daily" } },
  });
  await api("schedules/create", { id: "heartbeat", specs: [{ every: "1s" }], timer: { callbackUrl: `${receiver}/200` } });
  await api("schedules/create", { id: "month-end", specs: [{ rrule: "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=18;BYMINUTE=0;BYSECOND=0" }], timeZone: "America/New_York", timer: { deliver: "event" } });
  await api("schedules/pause", { id: "month-end", note: "closed books" });
  await until("all dead timers are dead", async () => (await api("timers/count", { status: "dead" })).count >= 39);
}
