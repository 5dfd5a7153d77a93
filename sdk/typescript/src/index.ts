/** Timerbus: durable timers. */

export { Keys, Namespaces, Timerbus } from "./client.js";
export { Clock } from "./clock.js";
export type { CallOptions, ClientOptions } from "./calls.js";
export { ConnectionFailed, RequestTimeout, ServiceError, TimerbusError } from "./errors.js";
export type { MatchingTotal, WalkOptions } from "./matching.js";
export { Schedules, type BackfillTotal, type ScheduleBatchItem, type WrittenSchedule } from "./schedules.js";
export { formatDuration, parseDuration, type DurationInput, type InstantInput, type LocalInput, type Milliseconds } from "./time.js";
export { Timers, type BatchItem, type WrittenTimer } from "./timers.js";
export type * from "./types.js";
export { version } from "./version.js";
