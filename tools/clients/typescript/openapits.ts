// Uses the types that openapi-typescript generates, with its own small client.
import createClient from "openapi-fetch";
import { assert, environment, eventually, found } from "./expect";
import type { components, paths } from "./generated/openapits";

async function main(): Promise<void> {
  const { baseUrl, token } = environment();
  const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

  const id = "openapits";
  const request: components["schemas"]["CreateTimerRequest"] = {
    id,
    executeIn: "1d",
    callbackUrl: "https://shop.example/expire",
    callbackTimeoutSeconds: 5,
    retryPolicy: { maxAttempts: 3 },
    correlationId: id,
    payload: { order: 17 },
  };
  const created: components["schemas"]["Timer"] = found(await api.POST("/api/v1/timers/create", { body: request }));
  assert.equal(created.namespace, "default");
  assert.equal(created.callbackTimeoutSeconds, 5);
  assert.deepEqual(created.payload, { order: 17 });

  const got = found(await api.POST("/api/v1/timers/get", { body: { timerId: id } }));
  assert.deepEqual(got, created);
  const page = found(await api.POST("/api/v1/timers/list", { body: { correlationId: id } }));
  assert.deepEqual(page.timers.map((t) => t.id), [id]);
  assert.ok(!("nextCursor" in page));

  const updated = found(await api.POST("/api/v1/timers/update", { body: { timerId: id, executeIn: "2d", payload: null } }));
  assert.ok(updated.executeAt > created.executeAt);
  assert.ok(!("payload" in updated), "an absent payload is left out");

  const deleted = await api.POST("/api/v1/timers/delete", { body: { timerId: id, ifGeneration: updated.generation } });
  assert.equal(deleted.response.status, 204);
  const gone = await api.POST("/api/v1/timers/get", { body: { timerId: id } });
  assert.equal(gone.error?.error, "TIMER_NOT_FOUND");
  assert.equal(gone.error?.details["timerId"], id);

  found(await api.POST("/api/v1/timers/create", { body: { id, executeIn: "0s", payload: 1 } }));
  const done = await eventually(async () => {
    const now = found(await api.POST("/api/v1/timers/get", { body: { timerId: id } }));
    return now.status === "done" ? now : undefined;
  });
  assert.ok(!("payload" in done), "a timer that is done has no payload");
}

void main();
