"""Receives callbacks and accepts those that are signed with the secret in WEBHOOK_SECRET.

    WEBHOOK_SECRET=whsec_… python3 receiver.py PORT
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def verified(webhook: Webhook, body: bytes, headers) -> bool:
    """Report whether the body, as received, is signed with the secret, and recently."""
    try:
        webhook.verify(body, dict(headers), json_parse=False)
    except (WebhookVerificationError, ValueError):  # ValueError: malformed headers
        return False
    return True


class Receiver(BaseHTTPRequestHandler):
    webhook: Webhook

    def do_POST(self):  # the name that http.server requires
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not verified(self.webhook, body, self.headers):
            self.send_error(401, "the signature is invalid")
            return
        callback = json.loads(body)
        # A real receiver skips ids that it has already processed.
        print(self.headers["webhook-id"], callback["timerId"], callback["payload"], flush=True)
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    Receiver.webhook = Webhook(os.environ["WEBHOOK_SECRET"])
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print("listening on http://127.0.0.1:%d/" % server.server_port, flush=True)
    server.serve_forever()
