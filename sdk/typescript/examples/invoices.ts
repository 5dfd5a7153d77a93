import type { Timerbus } from "timerbus";
import { done, MemoryDeduplication, reschedule, type Delivery, type Reply } from "timerbus/webhook";

const interval = 10 * 24 * 60 * 60 * 1000;
const reminders = 3;

/** Reminds customers of unpaid invoices after 10, 20 and 30 days. It has the options of a receiver. */
export class Invoices {
  readonly deduplication = new MemoryDeduplication();
  readonly secrets = null; // with a secret, signatures are verified
  /** The reminders of each unpaid invoice; a real program has them in its database. */
  readonly #sent = new Map<string, number>();

  constructor(
    readonly bus: Timerbus,
    readonly callbackUrl: string,
    readonly send: (invoice: string, number: number, at: Date) => void,
  ) {}

  async issued(invoice: string): Promise<void> {
    this.#sent.set(invoice, 0);
    await this.bus.timers.create({ id: invoice, executeIn: interval, callbackUrl: this.callbackUrl });
  }

  async paid(invoice: string): Promise<void> {
    const sent = this.#sent.get(invoice) ?? reminders;
    this.#sent.delete(invoice);
    if (sent < reminders) await this.bus.timers.delete({ id: invoice });
  }

  readonly handler = (delivery: Delivery): Reply => {
    const sent = this.#sent.get(delivery.timerId);
    if (sent === undefined) return done(); // paid at this moment
    const number = sent + 1;
    this.#sent.set(delivery.timerId, number);
    this.send(delivery.timerId, number, delivery.executeAt);
    return number === reminders ? done() : reschedule(new Date(delivery.executeAt.getTime() + interval));
  };
}
