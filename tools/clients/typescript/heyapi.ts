// Uses the client that @hey-api/openapi-ts generates.
import { assert, environment, eventually, found } from "./expect";
import { client } from "./generated/heyapi/client.gen";
import { createTimer, deleteTimer, getTimer, listTimers, updateTimer } from "./generated/heyapi/sdk.gen";
import type { CreateTimerRequest, Timer } from "./generated/heyapi/types.gen";

async function main(): Promise<void> {
  const { baseUrl, token } = environment();
  client.setConfig({ baseUrl, auth: token });

  const id = "heyapi";
  const request: CreateTimerRequest = {
    id,
    executeIn: "1d",
    callbackUrl: "https://shop.example/expire",
    callbackTimeoutSeconds: 5,
    retryPolicy: { maxAttempts: 3 },
    correlationId: id,
    payload: { order: 17 },
  };
  const created: Timer = found(await createTimer({ body: request }));
  assert.equal(created.namespace, "default");
  assert.equal(created.callbackTimeoutSeconds, 5);
  assert.deepEqual(created.payload, { order: 17 });

  const got = found(await getTimer({ body: { timerId: id } }));
  assert.deepEqual(got, created);
  const page = found(await listTimers({ body: { correlationId: id } }));
  assert.deepEqual(page.timers.map((t) => t.id), [id]);
  assert.ok(!("nextCursor" in page));

  const updated = found(await updateTimer({ body: { timerId: id, executeIn: "2d", payload: null } }));
  assert.ok(updated.executeAt > created.executeAt);
  assert.ok(!("payload" in updated), "an absent payload is left out");

  const deleted = await deleteTimer({ body: { timerId: id, ifGeneration: updated.generation } });
  assert.equal(deleted.response?.status, 204);
  const gone = await getTimer({ body: { timerId: id } });
  assert.equal(gone.error?.error, "TIMER_NOT_FOUND");
  assert.equal(gone.error?.details["timerId"], id);

  found(await createTimer({ body: { id, executeIn: "0s", payload: 1 } }));
  const done = await eventually(async () => {
    const now = found(await getTimer({ body: { timerId: id } }));
    return now.status === "done" ? now : undefined;
  });
  assert.ok(!("payload" in done), "a timer that is done has no payload");
}

void main();
