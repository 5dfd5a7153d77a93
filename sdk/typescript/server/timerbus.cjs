#!/usr/bin/env node
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { path } = require("./index.cjs");

const child = spawn(path(), process.argv.slice(2), { stdio: "inherit" });
// The interrupt of a terminal goes to both processes. Passed on it would be the second one, at which the program exits immediately.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  process.exitCode = signal === null ? code : 128 + constants.signals[signal];
});
