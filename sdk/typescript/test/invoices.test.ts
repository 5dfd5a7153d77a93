/** Plays 30 days of examples/invoices.ts with the test clock. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { Timerbus } from "timerbus";
import { receiver } from "timerbus/express";
import { startService } from "timerbus/testing";
import { Invoices } from "../examples/invoices.js";

test("reminders of 30 days", { timeout: 60_000 }, async () => {
  const service = await startService();
  const server = createServer((request, response) => receiver(invoices)(request, response, console.error));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bus = new Timerbus(service.url);
  const sent: [invoice: string, number: number, at: Date][] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/due`;
  const invoices = new Invoices(bus, url, (...reminder) => void sent.push(reminder));
  try {
    const start = (await bus.clock.get()).now.getTime();
    await invoices.issued("paid");
    await invoices.issued("unpaid");
    const begin = performance.now();
    await service.advance("15d");
    await invoices.paid("paid");
    await service.advance("15d");
    const took = performance.now() - begin;
    console.log(`30 days took ${(took / 1000).toFixed(2)} s`);
    const reminders = sent.map(([invoice, number, at]) => `${invoice} ${number}: day ${Math.floor((at.getTime() - start) / 864e5)}`);
    expect(reminders.sort()).toEqual(["paid 1: day 10", "unpaid 1: day 10", "unpaid 2: day 20", "unpaid 3: day 30"]);
    expect((await bus.timers.get({ id: "unpaid" })).status).toBe("done");
    expect(took).toBeLessThan(10_000);
  } finally {
    server.close();
    await service.stop();
  }
});
