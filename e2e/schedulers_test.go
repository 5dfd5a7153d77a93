package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
)

// holders counts the shards that each node owns; "" counts those without an owner.
func (c *cluster) holders(t *testing.T) map[string]int {
	t.Helper()
	shards, err := c.api.ListShards(t.Context(), c.namespace)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]int{}
	for _, s := range shards {
		if s.Held {
			held[s.Node]++
		} else {
			held[""]++
		}
	}
	return held
}

// heldBy waits until all shards are owned by exactly these schedulers, and returns how long that took.
func (c *cluster) heldBy(t *testing.T, since time.Time, schedulers ...string) time.Duration {
	t.Helper()
	ctx := within(t, 2*patience)
	for {
		held := c.holders(t)
		if slices.Equal(slices.Sorted(maps.Keys(held)), schedulers) {
			return time.Since(since)
		}
		if ctx.Err() != nil {
			t.Fatalf("shards are held by %v, want %v", held, schedulers)
		}
		pause(ctx, 2*time.Millisecond)
	}
}

// thaw resumes a frozen scheduler, and returns how many of its writes to shards were refused. If it learns only from
// the bus that it has lost its partitions, the bus is frozen until these writes have happened.
func (c *cluster) thaw(t *testing.T, frozen *member) (refused float64) {
	t.Helper()
	deaf := c.bus.wakesAsOwner && controllable()
	brokers := func(what string) {
		for _, node := range c.bus.nodes {
			testserver.Control(t, what+"/"+node)
		}
	}
	if deaf {
		brokers("freeze")
	}
	if err := frozen.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if !deaf {
		return frozen.metric(t, "timerbus_scheduler_fenced_total")
	}
	defer brokers("thaw")
	for deadline := time.Now().Add(c.bus.session / 2); ; pause(t.Context(), 10*time.Millisecond) {
		if refused = frozen.metric(t, "timerbus_scheduler_fenced_total"); refused > 0 {
			return refused
		}
		if time.Now().After(deadline) {
			t.Error("no write of the frozen process was refused: the test does not prove the fencing")
			return 0
		}
	}
}

// metric returns the value of one of a process's counters.
func (m *member) metric(t *testing.T, name string) (value float64) {
	t.Helper()
	text := (&world{Service: m.Service}).do(t, "GET", "/metrics", "").body
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	return value
}

// TestSchedulersComeAndGo makes two and three schedulers on each bus join, leave in an orderly way, crash, and freeze
// for longer than their session, under load. It prints how long shards were without a live owner, and the oracle checks
// the timers.
func TestSchedulersComeAndGo(t *testing.T) {
	for _, name := range clusters {
		t.Run(name, func(t *testing.T) {
			c := startClusterOn(t, needBus(t, name), 1, 2, 1)
			c.heldBy(t, time.Now(), "scheduler-1", "scheduler-2")
			l := newLoad(t, c.world)
			stop := l.start(t.Context(), 4)

			began := time.Now()
			c.launch(t, "scheduler", 3)
			joined := c.heldBy(t, began, "scheduler-1", "scheduler-2", "scheduler-3")

			pause(t.Context(), 2*time.Second) // the partitions are balanced and do not move any more

			began = time.Now()
			if err := c.member("scheduler-1").Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			left := c.heldBy(t, began, "scheduler-2", "scheduler-3")
			if code, err := c.member("scheduler-1").Exit(within(t, patience)); err != nil || code != 0 {
				t.Fatalf("scheduler-1 ended with %d, %v", code, err)
			}
			pause(t.Context(), 2*time.Second)

			began = time.Now()
			if err := c.member("scheduler-2").Kill(); err != nil {
				t.Fatal(err)
			}
			died := c.heldBy(t, began, "scheduler-3")

			if err := c.member("scheduler-2").Start(within(t, patience)); err != nil {
				t.Fatal(err)
			}
			c.heldBy(t, time.Now(), "scheduler-2", "scheduler-3")
			pause(t.Context(), 2*time.Second)

			frozen := c.member("scheduler-3")
			began = time.Now()
			if err := frozen.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			froze := c.heldBy(t, began, "scheduler-2")
			pause(t.Context(), c.bus.session)
			refused := c.thaw(t, frozen)
			thawed := time.Now()
			back := c.heldBy(t, thawed, "scheduler-2", "scheduler-3")
			if err := frozen.Ready(within(t, patience)); err != nil {
				t.Fatal(err)
			}
			stop()
			l.settle(within(t, 3*time.Minute), t, c.bus.events(t), thawed, clusterGrace)
			report := l.Report(time.Now().Add(-clusterGrace))
			t.Logf("join %v, clean leave %v, kill -9 %v, freeze %v, thaw %v; shards refused to the frozen one: %v",
				joined, left, died, froze, back, refused)
			t.Log(report.String())
			if report.Bad() > 0 || report.Fired == 0 {
				t.Error("a guarantee is violated, or the test proves nothing")
			}
			// Generous, since machines are busy: a session, plus the time until the bus notices.
			if limit := c.bus.session + 5*time.Second; died > limit || froze > limit || left > 3*time.Second {
				t.Errorf("take-overs took too long: want %v at most, and 3s after a clean leave", limit)
			}
		})
	}
}
