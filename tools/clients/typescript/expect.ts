// Helpers of both programs.
import assert from "node:assert/strict";

export { assert };

export function environment(): { baseUrl: string; token: string } {
  const { TIMERBUS_URL: baseUrl, TIMERBUS_TOKEN: token } = process.env;
  assert.ok(baseUrl && token, "TIMERBUS_URL and TIMERBUS_TOKEN are not set");
  return { baseUrl, token };
}

// found returns the data of an answer, and fails if there is none.
export function found<T>(answer: { data?: T; error?: unknown }): T {
  assert.ok(answer.data !== undefined, `the service refused: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

// eventually repeats ask until it returns a value, for 20 s at most.
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 20_000; Date.now() < end; await new Promise((again) => setTimeout(again, 100))) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new Error("no value within 20 s");
}
