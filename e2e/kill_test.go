package e2e_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// killGrace is within what time of a restart everything due must have come.
const killGrace = 20 * time.Second

// killRounds is TIMERBUS_KILL_ROUNDS, or what everybody has time for.
func killRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TIMERBUS_KILL_ROUNDS")
	if text == "" {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("TIMERBUS_KILL_ROUNDS: %q is not accepted: want a number from 1", text)
	}
	return n
}

// TestKillUnderLoad kills the process with SIGKILL at a random moment of a load of creates, updates,
// replaces and deletes, starts it again on the same data, and lets the oracle judge: nothing lost,
// nothing early, nothing after a delete or update in time, everything due within 20 s of the restart,
// and every duplicate attributable.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	l := newLoad(t, w)
	rounds := killRounds(t)
	for round := 1; round <= rounds; round++ {
		// One round with leases is enough for those who are in a hurry.
		l.long.Store(round == 1 || rounds > 3)
		stop := l.start(t.Context(), 8)
		pause(t.Context(), time.Second+rand.N(2*time.Second))
		l.Killed()
		if err := w.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := w.Start(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		back := time.Now()
		l.Restarted(back)
		w.connectTap(t)
		pause(t.Context(), 300*time.Millisecond) // the load goes on over the restart
		stop()
		l.settle(within(t, 2*time.Minute), t, w.tap, back, killGrace)
		report := l.Report(time.Now().Add(-killGrace))
		t.Logf("round %d of %d: %s", round, rounds, report.String())
		if report.Bad() > 0 || report.MaxRecovery > killGrace {
			t.Fatal("a promise is broken")
		}
	}
	if r := l.Report(time.Now()); r.Created == 0 || r.Fired == 0 || r.DeletedInTime == 0 || r.Updated == 0 {
		t.Errorf("this proves nothing: %s", r.String())
	}
	// The service agrees that nothing is left.
	if onDatabase() {
		w.emptyWithin(t, chosen().late)
	}
	for timer, err := range w.api.AllTimers(t.Context(), client.ListTimersRequest{Namespace: w.namespace}) {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("timer %s is still there: %s, due at %v, %d attempts, %s", timer.ID, timer.Status, timer.DueAt, timer.Attempts, timer.LastError)
	}
}

// emptyWithin waits for what nobody knows of: writes whose answer went down with the process.
func (w *world) emptyWithin(t *testing.T, late time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(late); time.Now().Before(deadline); pause(t.Context(), 200*time.Millisecond) {
		left := 0
		for _, err := range w.api.AllTimers(t.Context(), client.ListTimersRequest{Namespace: w.namespace}) {
			if err != nil {
				t.Fatal(err)
			}
			left++
		}
		if left == 0 {
			return
		}
	}
}
