/** A receiver for the route handlers of Next.js. */

import { receiver as fetchReceiver } from "./fetch.js";
import type { ReceiverOptions } from "./webhook.js";

/** Returns the exports of app/timers/route.ts: `export const { POST } = receiver({ secrets, handler })`. */
export function receiver(options: ReceiverOptions): { readonly POST: (request: Request) => Promise<Response> } {
  return { POST: fetchReceiver(options) };
}
