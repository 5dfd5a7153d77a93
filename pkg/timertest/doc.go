// Package timertest runs a whole Timerbus inside a `go test`, in one line:
//
//	func TestReminder(t *testing.T) {
//		service := timertest.Start(t)
//		request := client.CreateTimerRequest{ID: "a", ExecuteIn: "10ms", CallbackURL: receiver.URL}
//		_, err := service.Client.CreateTimer(t.Context(), request)
//		…
//	}
//
// It is the service of `timerbus dev`: SQLite and NATS in a temporary folder, ingest, scheduler and dispatcher in the
// test process, so that a debugger and the race detector cover it. It starts within tens of milliseconds, and is
// stopped and removed when the test ends. Parallel tests can each run one.
//
// With WithTestClock, the whole service runs on a clock that a test moves forward:
//
//	service := timertest.Start(t, timertest.WithTestClock())
//	// … create a timer for tomorrow …
//	service.Advance(t, 72*time.Hour) // returns after the delivery
//
// Without it, time is real: a timer for tomorrow fires tomorrow. It cannot run inside a testing/synctest bubble, because it
// uses sockets and files.
//
// Several tests can share one: TestMain opens it with Open, and each test creates its own namespace.
//
// It imports internal/node, and so every engine, and pkg/client. It is meant for tests only.
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package timertest
