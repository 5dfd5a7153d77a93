// Receives callbacks and accepts those that are signed with the secret in WEBHOOK_SECRET.
//
//     WEBHOOK_SECRET=whsec_… node receiver.mjs PORT

import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { Webhook } from "standardwebhooks";

// Reports whether the body, as received, is signed with the secret, and recently.
export function verified(webhook, body, headers) {
  try {
    webhook.verify(body, headers, { jsonParse: false });
  } catch {
    return false;
  }
  return true;
}

async function bytes(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

export function receiver(secret) {
  const webhook = new Webhook(secret);
  return createServer(async (request, response) => {
    try {
      const body = await bytes(request);
      if (!verified(webhook, body, request.headers)) {
        response.writeHead(401).end("the signature is invalid");
        return;
      }
      const callback = JSON.parse(body);
      // A real receiver skips ids that it has already processed.
      console.log(request.headers["webhook-id"], callback.timerId, callback.payload);
      response.writeHead(204).end();
    } catch (error) {
      console.error(error.message);
      response.writeHead(400).end();
    }
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = receiver(process.env.WEBHOOK_SECRET);
  server.listen(Number(process.argv[2]), "127.0.0.1", () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}/`);
  });
}
