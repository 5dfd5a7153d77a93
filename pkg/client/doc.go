// Package client is the Go client of the HTTP API.
//
//	c, err := client.New("http://127.0.0.1:8080", client.WithToken(token))
//	…
//	_, err = c.CreateTimer(ctx, client.CreateTimerRequest{
//		ID: "order-17", ExecuteIn: "15m", CallbackURL: "https://shop.example/expire",
//	})
//
// # Retries
//
// The client retries failed calls, as set by WithRetry, if a retry is safe:
//
//   - It always retries after 429 and 503, which mean that nothing was applied, and after a failure to connect.
//   - After a broken connection, when the first try may or may not have been applied, it retries only idempotent calls:
//     all reads, creations with onConflict replace or keep and batches of them, updates without IfGeneration, deletions,
//     reschedules (unless ShiftBy is used), pauses, resumes (unless ResumeRate is used) and retries by filter, all calls
//     about namespaces except updates with IfVersion, and of schedules also updates without IfVersion and PendingDelete,
//     pauses, resumes and backfills.
//
// A creation that is sent twice creates one timer. With replace, the timer fires again if the first try was applied and
// the timer had already fired when the second try arrived; with keep it does not.
//
// Deletions by id, retries by id, creations with fail and updates with IfGeneration or IfVersion are never repeated
// after a broken connection: their answer depends on the state before the call, and a second try would see the result
// of the first one. They return the connection's error, and the caller can read the state with GetTimer. TriggerSchedule is
// never repeated either, because a second call would create a second occurrence.
//
// OUTCOME_UNKNOWN (504) is never retried: the service is in trouble, and only the caller knows how urgent the call is.
//
// # Schedules
//
// A schedule creates timers, its occurrences: CreateSchedule and the other methods about schedules. BackfillAll creates the
// occurrences of a past time range.
//
// # Many timers
//
// BatchCreateTimers and BatchDeleteTimers accept up to 1,000 timers and return a result for each, like BatchCreateSchedules and
// BatchDeleteSchedules for schedules. A Batcher collects the creations of many goroutines into batches. DeleteAllMatching,
// RescheduleAllMatching, PauseAllMatching, ResumeAllMatching, RetryAllMatching and PurgeAllMatching
// process all timers that a filter selects, page by page.
//
// The package re-exports the types of pkg/api and imports no other package of the module.
//
// Programs can test against a real service: see pkg/timertest.
//
// Read client.go, then timers.go, schedules.go, batch.go, matching.go and namespaces.go (one method for each route), batcher.go,
// errors.go, retry.go.
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package client
