import datetime
import json
import pathlib
import unittest
from unittest import mock

from standardwebhooks.webhooks import Webhook

import receiver

VECTORS = pathlib.Path(__file__).parents[3] / "schemas" / "testdata" / "signatures.json"
OTHER = "whsec_b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcm90aGVyb3Q="


def headers(vector, **changed):
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    return {name.title(): changed.get(name[8:], vector[name]) for name in names}


class Signatures(unittest.TestCase):
    def setUp(self):
        self.vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
        self.assertTrue(self.vectors)

    def at(self, vector, seconds=0):
        """Set the library's clock to this number of seconds after the callback."""
        now = datetime.datetime.fromtimestamp(int(vector["webhook-timestamp"]) + seconds, tz=datetime.timezone.utc)
        clock = mock.Mock(wraps=datetime.datetime)
        clock.now.return_value = now
        return mock.patch("standardwebhooks.webhooks.datetime", clock)

    def test_the_library_accepts_our_signatures(self):
        for vector in self.vectors:
            body = vector["body"].encode()
            for secret in vector["secrets"]:
                with self.subTest(vector["name"]), self.at(vector):
                    self.assertTrue(receiver.verified(Webhook(secret), body, headers(vector)))

    def test_it_refuses_everything_else(self):
        for vector in self.vectors:
            body, webhook = vector["body"].encode(), Webhook(vector["secrets"][0])
            with self.subTest(vector["name"]), self.at(vector):
                self.assertFalse(receiver.verified(Webhook(OTHER), body, headers(vector)))
                self.assertFalse(receiver.verified(webhook, body + b" ", headers(vector)))
                self.assertFalse(receiver.verified(webhook, body, headers(vector, id="other")))
                for signature in ("", "v1", "v1,", "v1,A", "v1,AAAA", "v1a,AAAA", "v1,AAAA,A", "\u00fc"):
                    self.assertFalse(receiver.verified(webhook, body, headers(vector, signature=signature)), signature)
                self.assertFalse(receiver.verified(webhook, b"\xff", headers(vector)))
                self.assertFalse(receiver.verified(webhook, body, {}))
            with self.subTest(vector["name"] + ", late"), self.at(vector, 301):
                self.assertFalse(receiver.verified(webhook, body, headers(vector)))


if __name__ == "__main__":
    unittest.main()
