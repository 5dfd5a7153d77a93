// Package client talks to Timerbus over HTTP.
//
//	c, err := client.New("http://127.0.0.1:8080", client.WithToken(token))
//	…
//	_, err = c.CreateTimer(ctx, client.CreateTimerRequest{
//		ID: "order-17", ExecuteIn: "15m", CallbackURL: "https://shop.example/expire",
//	})
//
// # Repetition
//
// Calls that failed are tried again, as WithRetry says, if that can do no harm:
//
//   - always after 429 and 503, which mean that nothing was applied, and when no connection came about;
//   - after a connection that broke, when the first try may or may not have been applied, only if
//     applying the call twice leaves what applying it once does: all reads, creations with onConflict
//     replace or keep and batches of them, updates without IfGeneration, deletions, retries and, unless
//     ShiftBy is used, reschedules by filter, and all calls about namespaces.
//
// A creation sent twice is one timer. One thing to know: with replace, if the first try was applied and
// the timer had already fired when the second one arrived, it fires again; with keep it does not.
// Deletions by id, retries by id, creations with fail and guarded updates are never repeated after a
// broken connection: their answer tells what was there before, and a second try would see the first
// one's work. They return the connection's error, and the caller asks GetTimer.
//
// OUTCOME_UNKNOWN (504) is never repeated: the service is in trouble, and only the caller knows how
// urgent it is.
//
// # Many timers
//
// BatchCreateTimers and BatchDeleteTimers take up to 1,000 timers and answer for each. A Batcher puts the
// creations of many goroutines together by itself. DeleteAllMatching, RescheduleAllMatching and
// RetryAllMatching work through all timers that a filter selects, page by page.
//
// The package imports pkg/api, whose types it shows under its own name, and nothing else of the module.
//
// Tests of a program that uses it can start a real service: see pkg/timertest.
//
// Read client.go, then timers.go, batch.go, matching.go and namespaces.go (one method for each route),
// batcher.go, errors.go, retry.go.
package client
