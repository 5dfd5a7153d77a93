// Package timertest runs a whole Timerbus inside a `go test`, in one line:
//
//	func TestReminder(t *testing.T) {
//		bus := timertest.Start(t)
//		_, err := bus.Client.CreateTimer(t.Context(), client.CreateTimerRequest{ID: "a", ExecuteIn: "10ms", CallbackURL: hook.URL})
//		…
//	}
//
// It is the service of `timerbus dev`: SQLite and NATS in a temporary folder, ingest, scheduler and
// dispatcher in the test's own process, so that a debugger and the race detector see all of it. It starts
// within some ten milliseconds, is stopped and removed when the test is over, and may run as often at the
// same time as there are parallel tests.
//
// Time is real: a timer for tomorrow fires tomorrow. Tests create timers that are due in milliseconds, or
// give a timer that waits another time with UpdateTimer. Inside a testing/synctest bubble it cannot run: it
// has sockets and files.
//
// Several tests can share one: TestMain opens it with Open, and each test makes a namespace of its own.
//
// It imports pkg/node and pkg/client, and is meant for tests only: it knows every engine.
package timertest
