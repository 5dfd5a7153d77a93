/** A receiver for Express. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Receiver, type ReceiverOptions } from "./webhook.js";

/**
 * Returns a handler that receives callbacks: `app.post("/timers", receiver({ secrets, handler }))`.
 *
 * It verifies the bytes of the body, so no parser of bodies may run before it, except express.raw.
 */
export function receiver(options: ReceiverOptions): (request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void) => void {
  const verified = new Receiver(options);
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const content = await bytes(request);
    if (content === undefined) {
      response.writeHead(413, { Connection: "close" }).end();
      return;
    }
    const { status, body, headers } = await verified.receive(request.headers, content);
    response.writeHead(status, headers).end(body);
  };
  return (request, response, next) => {
    receive(request, response).catch(next);
  };
}

/** The largest body, in bytes. A delivery with the largest payload is smaller. */
const maxBody = 1 << 20;

/** Returns the body, or undefined if it is too large. */
async function bytes(request: IncomingMessage & { body?: unknown }): Promise<Uint8Array | undefined> {
  if (request.body instanceof Uint8Array) return request.body;
  if (request.body !== undefined && request.readableEnded) {
    throw new Error("the body was parsed before the receiver of callbacks: register the receiver before express.json()");
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    parts.push(part as Uint8Array);
    size += (part as Uint8Array).length;
    if (size > maxBody) return undefined;
  }
  return Buffer.concat(parts);
}
