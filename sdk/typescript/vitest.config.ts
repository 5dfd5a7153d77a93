import { defineConfig } from "vitest/config";

// The tests import the package by its name, so they need a build.
export default defineConfig({
  test: { include: ["test/**/*.test.ts"], fileParallelism: false, reporters: ["dot"] },
});
