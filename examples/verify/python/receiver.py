"""Takes callbacks and accepts those that are signed with the secret in WEBHOOK_SECRET.

    WEBHOOK_SECRET=whsec_… python3 receiver.py PORT
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def verified(webhook: Webhook, body: bytes, headers) -> bool:
    """Whether the body, as it came, is signed with the secret, and lately."""
    try:
        webhook.verify(body, dict(headers), json_parse=False)
    except (WebhookVerificationError, ValueError):  # the latter for headers that make no sense
        return False
    return True


class Receiver(BaseHTTPRequestHandler):
    webhook: Webhook

    def do_POST(self):  # the name that http.server asks for
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not verified(self.webhook, body, self.headers):
            self.send_error(401, "the signature is not right")
            return
        callback = json.loads(body)
        # What has this id already been done for need not be done again.
        print(self.headers["webhook-id"], callback["timerId"], callback["payload"], flush=True)
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    Receiver.webhook = Webhook(os.environ["WEBHOOK_SECRET"])
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print("listening on http://127.0.0.1:%d/" % server.server_port, flush=True)
    server.serve_forever()
