import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { verified } from "./receiver.mjs";

const pinned = process.env.VECTORS ?? new URL("../../../schemas/testdata/signatures.json", import.meta.url);
const vectors = JSON.parse(readFileSync(pinned, "utf8"));
const other = "whsec_b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcm90aGVyb3Q=";

const headers = (vector, changed = {}) => ({
  "webhook-id": vector["webhook-id"],
  "webhook-timestamp": vector["webhook-timestamp"],
  "webhook-signature": vector["webhook-signature"],
  ...changed,
});

// Runs check with the library's clock set to this number of seconds after the callback.
function at(vector, seconds, check) {
  mock.timers.enable({ apis: ["Date"], now: (Number(vector["webhook-timestamp"]) + seconds) * 1000 });
  try {
    check();
  } finally {
    mock.timers.reset();
  }
}

assert.ok(vectors.length > 0);
for (const vector of vectors) {
  const body = Buffer.from(vector.body);
  const webhook = new Webhook(vector.secrets[0]);
  test(`the library accepts our signature: ${vector.name}`, () => at(vector, 0, () => {
    for (const secret of vector.secrets) assert.equal(verified(new Webhook(secret), body, headers(vector)), true);
  }));
  test(`it refuses everything else: ${vector.name}`, () => {
    at(vector, 0, () => {
      assert.equal(verified(new Webhook(other), body, headers(vector)), false);
      assert.equal(verified(webhook, Buffer.concat([body, Buffer.from(" ")]), headers(vector)), false);
      assert.equal(verified(webhook, body, headers(vector, { "webhook-id": "other" })), false);
      for (const signature of ["", "v1", "v1,", "v1,A", "v1,AAAA", "v1a,AAAA", "ü"]) {
        assert.equal(verified(webhook, body, headers(vector, { "webhook-signature": signature })), false, signature);
      }
      assert.equal(verified(webhook, body, {}), false);
    });
    at(vector, 301, () => assert.equal(verified(webhook, body, headers(vector)), false));
  });
}
