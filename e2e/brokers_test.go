package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
)

// TestBrokersAreKilledUnderLoad kills each broker under load, and then all brokers, and starts them again. Every
// acknowledged timer is delivered, and no process of the service needs a restart.
func TestBrokersAreKilledUnderLoad(t *testing.T) {
	onEachBus(t, slices.Concat(clusters, lone), func(t *testing.T, name string) {
		c := startClusterOn(t, needBus(t, name), 1, 2, 1)
		c.heldBy(t, time.Now(), "scheduler-1", "scheduler-2")
		l := newLoad(t, c.world)
		var rounds [][]string
		for _, node := range c.bus.nodes {
			rounds = append(rounds, []string{node})
		}
		if len(c.bus.nodes) > 1 {
			rounds = append(rounds, c.bus.nodes)
		}
		for _, nodes := range rounds {
			stop := l.start(t.Context(), 4)
			pause(t.Context(), time.Second)
			l.Killed(time.Now())
			killed := time.Now()
			for _, node := range nodes {
				testserver.Control(t, "kill/"+node)
			}
			pause(t.Context(), 3*time.Second)
			var starting sync.WaitGroup
			for _, node := range nodes { // a broker becomes ready only with a quorum
				starting.Go(func() { testserver.Control(t, "start/"+node) })
			}
			starting.Wait()
			back := time.Now()
			l.Restarted(back)
			pause(t.Context(), time.Second) // the load continues
			stop()
			l.settle(within(t, 3*time.Minute), t, c.bus.events(t), back, clusterGrace)
			report := l.Report(time.Now().Add(-clusterGrace))
			t.Logf("%s away for %.1f s; the last overdue timer was delivered %.1f s after the restart: %s",
				strings.Join(nodes, ", "), back.Sub(killed).Seconds(), report.LastRecovery.Seconds(), report.String())
			if report.Bad() > 0 || report.LastRecovery > clusterGrace {
				t.Fatal("a promise is broken")
			}
		}
		for _, m := range c.members {
			if !m.Running() {
				t.Errorf("%s has ended", m.name)
			} else if err := m.Ready(within(t, patience)); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		if r := l.Report(time.Now()); r.Created == 0 || r.Fired == 0 {
			t.Errorf("the test proves nothing: %s", r.String())
		}
	})
}

// TestLostDueTopic deletes the topic of due events while it has undelivered events. Only the service creates it again,
// and no process needs a restart: the timers of the lost events are late, and later timers are in time.
func TestLostDueTopic(t *testing.T) {
	for _, name := range clusters {
		t.Run(name, func(t *testing.T) {
			c := startClusterOn(t, needBus(t, name), 1, 1, 1)
			c.create(t, "first", 0) // all roles work
			c.calls(t, "first", 1)
			dispatcher := c.member("dispatcher-1")
			if err := dispatcher.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			const timers = 200
			for i := range timers {
				c.create(t, fmt.Sprint("lost/", i), time.Second)
			}
			for deadline := time.Now().Add(patience); c.member("scheduler-1").metric(t, "timerbus_scheduler_published_total") < timers; {
				if time.Now().After(deadline) {
					t.Fatal("the scheduler does not publish")
				}
				pause(t.Context(), 20*time.Millisecond)
			}
			if err := c.bus.deleteTopic(within(t, patience), "due"); err != nil {
				t.Fatal(err)
			}
			lost := time.Now()
			if err := dispatcher.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			var latest time.Duration
			for i := range timers {
				calls, err := c.receiver.Await(within(t, 3*time.Minute), c.namespace, fmt.Sprint("lost/", i), 1)
				if err != nil {
					t.Fatalf("timer %d of %d: %v", i, timers, err)
				}
				latest = max(latest, calls[0].At.Sub(lost))
			}
			// Later timers are in time again.
			c.create(t, "after", time.Second)
			created := time.Now()
			after := c.calls(t, "after", 1)[0].At.Sub(created.Add(time.Second))
			t.Logf("%d timers whose due events were lost fired within %v of the loss; the next one was late by %v", timers, latest, after)
			if after > 5*time.Second {
				t.Errorf("a timer after the loss is late by %v", after)
			}
		})
	}
}
