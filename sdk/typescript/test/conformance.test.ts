/** Executes the conformance scripts. */

import { describe, test } from "vitest";
import { execute, scripts } from "./scripts.js";

describe("conformance", () => {
  for (const [name, steps] of scripts()) test(name, { timeout: 60_000 }, () => execute(steps));
});
