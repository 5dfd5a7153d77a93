// Tells Node which of the two builds is ESM and which is CommonJS.
import { writeFileSync } from "node:fs";

for (const [folder, type] of [["esm", "module"], ["cjs", "commonjs"]]) {
  writeFileSync(new URL(`../dist/${folder}/package.json`, import.meta.url), JSON.stringify({ type }) + "\n");
}
