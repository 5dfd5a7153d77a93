/** A receiver for Hono. */

import { receiver as fetchReceiver } from "./fetch.js";
import type { ReceiverOptions } from "./webhook.js";

/** Returns a handler that receives callbacks: `app.post("/timers", receiver({ secrets, handler }))`. */
export function receiver(options: ReceiverOptions): (context: { readonly req: { readonly raw: Request } }) => Promise<Response> {
  const receive = fetchReceiver(options);
  return (context) => receive(context.req.raw);
}
