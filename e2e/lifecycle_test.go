package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/oracle"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestKilledBeforeItsTime is a new user's first test: create, kill -9, start, and the timer fires in time.
func TestKilledBeforeItsTime(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	made := w.create(t, "hello", 4*time.Second, func(r *client.CreateTimerRequest) { r.Payload = json.RawMessage(`"later"`) })
	missed := w.create(t, "missed", 200*time.Millisecond, func(r *client.CreateTimerRequest) { r.CallbackURL = "" })
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	pause(t.Context(), time.Until(missed.ExecuteAt.Time)+100*time.Millisecond)
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	got, err := w.api.GetTimer(t.Context(), w.selection("hello"))
	if err != nil || got.Generation != made.Generation {
		t.Fatalf("after the kill: %+v, %v", got, err)
	}
	call := w.calls(t, "hello", 1)[0]
	latest := 2 * time.Second
	if onDatabase() && chosen().slow {
		latest = 10 * time.Second // its due time may have passed before the service is ready
	}
	if call.Lateness() < 0 || call.Lateness() > latest {
		t.Errorf("arrived %v after its due time", call.Lateness())
	}
	// Timers that became due while the service was down are delivered afterwards.
	w.reaches(t, "missed", isStatus("done"))
}

// TestStopDrains: after SIGTERM no new work is accepted, a running callback is completed, the exit code is 0, and after
// the next start nothing is repeated.
func TestStopDrains(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	w.receiver.On(w.namespace, "slow", receiver.Answer{Delay: 1500 * time.Millisecond})
	w.create(t, "slow", 0)
	w.create(t, "after", 1700*time.Millisecond)
	w.calls(t, "slow", 1)
	code, err := w.Stop(within(t, patience))
	if err != nil || code != 0 {
		t.Fatalf("exit code %d, %v", code, err)
	}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if got, err := w.api.GetTimer(t.Context(), w.selection("slow")); err != nil || got.Status != "done" || got.Attempts != 1 {
		t.Errorf("what was under way at the stop ended as %+v, %v", got, err)
	}
	w.calls(t, "after", 1)
	w.reaches(t, "after", isStatus("done"))
	for _, id := range []string{"slow", "after"} {
		if calls := w.receiver.Calls(w.namespace, id); len(calls) != 1 {
			t.Errorf("%s was called %d times", id, len(calls))
		}
	}
	if r := w.do(t, http.MethodGet, "/readyz", ""); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestFrozen stops the process for some seconds under load, like a closed laptop or a long pause of a virtual machine:
// its leases expire, its connections hang, its clock jumps. No timer is lost or early.
func TestFrozen(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	l := newLoad(t, w)
	stop := l.start(t.Context(), 4)
	pause(t.Context(), time.Second)
	l.Killed(time.Now()) // for the oracle this is like a kill
	if err := w.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	pause(t.Context(), 4*time.Second)
	if err := w.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := w.Ready(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	l.Restarted(back)
	w.connectTap(t)
	pause(t.Context(), time.Second)
	stop()
	l.settle(within(t, time.Minute), t, w.tap, back, killGrace)
	checkPromises(t, l, "frozen for 4 s")
}

// checkPromises checks the oracle's report of a test under load.
func checkPromises(t *testing.T, l *load, story string) {
	t.Helper()
	r := l.Report(time.Now().Add(-killGrace))
	t.Logf("%s: %s", story, r.String())
	if r.Bad() > 0 {
		t.Error("a promise is broken")
	}
	if r.Created == 0 || r.Fired == 0 {
		t.Error("the test proves nothing")
	}
	if owed := l.Owed(); len(owed) > 0 {
		t.Errorf("still owed: %s", list(owed))
	}
}

func list(owed []oracle.Debt) string {
	text := fmt.Sprintf("%d timers", len(owed))
	for _, d := range owed[:min(len(owed), 5)] {
		text += fmt.Sprintf(", %s due at %s", d.Token, d.DueAt.UTC().Format(time.StampMilli))
	}
	return text
}

// TestI11_LeasesEndWithTheirProcess kills the process during a callback that is long enough for a row lease. The next
// process on the data folder makes the timer due immediately, although the lease would last some seconds longer.
func TestI11_LeasesEndWithTheirProcess(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	w.receiver.On(w.namespace, "long", receiver.Answer{Hang: true}, receiver.Answer{})
	made := w.create(t, "long", 0)
	leased := w.reaches(t, "long", func(got *client.Timer) bool { return got.DueAt.After(made.DueAt.Time) })
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	again := w.calls(t, "long", 2)[1]
	if left := leased.DueAt.Sub(again.At); left <= 0 && !onDatabase() { // other processes may use a database
		t.Errorf("the callback was repeated %v after the end of the lease of the killed process", -left)
	}
	w.reaches(t, "long", isStatus("done"))
}
