/** A receiver for servers with the Request and Response of the Fetch API: Deno, Bun, workers, and others. */

import { Receiver, type ReceiverOptions } from "./webhook.js";

/** Returns a function that receives callbacks. */
export function receiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const verified = new Receiver(options);
  return async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405, headers: { Allow: "POST" } });
    const { status, body, headers } = await verified.receive(request.headers, new Uint8Array(await request.arrayBuffer()));
    return new Response(body, { status, headers });
  };
}
