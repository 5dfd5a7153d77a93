"use strict";

exports.path = function path() {
  const name = `@timerbus/server-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/timerbus`);
  } catch (cause) {
    throw new Error(`${name} is not installed: want linux or darwin on x64 or arm64, and an installation with optional dependencies`, { cause });
  }
};
