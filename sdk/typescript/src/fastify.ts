/** A receiver for Fastify. */

import type { FastifyInstance } from "fastify";
import { Receiver, type ReceiverOptions } from "./webhook.js";

/** A plugin with one route that receives callbacks: `app.register(receiver, { path: "/timers", secrets, handler })`. */
export async function receiver(app: FastifyInstance, options: ReceiverOptions & { path: string }): Promise<void> {
  const verified = new Receiver(options);
  // The signature covers the bytes of the body. Parsers of a plugin apply to its own routes only.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, parsed) => parsed(null, body));
  app.post(options.path, async (request, reply) => {
    const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
    const answer = await verified.receive(request.headers, body);
    return reply.code(answer.status).headers(answer.headers).send(answer.body);
  });
}
