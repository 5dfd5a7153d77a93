package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/pkg/client"
)

// killGrace is the time after a restart within which all overdue timers must be delivered.
const killGrace = 35 * time.Second

// campaign has a number of seeds, each with a new data folder and a number of rounds. A round has a number of kills
// under one load, and ends when no timer is overdue.
type campaign struct {
	first                uint64
	seeds, rounds, kills int
	clients              int
	// full: clients do not pause between requests.
	full bool
	// bus is the name of a bus in testenv. Without it the NATS server in the process is killed as well.
	bus string
}

// killCampaign reads TIMERBUS_KILL_ROUNDS, _KILLS, _SEEDS, _FIRST, _CLIENTS and _BUS, which `make kill` sets. Without
// them the campaign is short and light.
func killCampaign(t *testing.T) campaign {
	t.Helper()
	c := campaign{first: rand.Uint64N(1 << 32), seeds: 1, rounds: 2, kills: 2, clients: 8}
	if os.Getenv("TIMERBUS_KILL_ROUNDS") == "" {
		return c
	}
	c.full = true
	c.bus = os.Getenv("TIMERBUS_KILL_BUS")
	if c.bus != "" && !slices.Contains(lone, c.bus) {
		t.Fatalf("TIMERBUS_KILL_BUS: %q is not accepted: want %s", c.bus, strings.Join(lone, " or "))
	}
	c.clients = number(t, "TIMERBUS_KILL_CLIENTS", 64)
	c.seeds = number(t, "TIMERBUS_KILL_SEEDS", 1)
	c.rounds = number(t, "TIMERBUS_KILL_ROUNDS", 30)
	c.kills = number(t, "TIMERBUS_KILL_KILLS", 2)
	c.first = uint64(number(t, "TIMERBUS_KILL_FIRST", 1))
	return c
}

// number reads an environment variable.
func number(t *testing.T, name string, standard int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: %q is not accepted: want a number from 1", name, text)
	}
	return n
}

// TestKillUnderLoad kills the process with SIGKILL at a random time during a load of creates, updates, replaces,
// deletes and deliveries, and starts it again on the same data. The oracle checks that no timer is lost or early, that
// none fires after a delete or update in time, that all overdue timers fire within 35 s of the restart, and that every
// duplicate is attributable. Each timer that has ended and has a URL for that has exactly one follow-up, which arrives.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	c := killCampaign(t)
	var table []string
	var latest time.Duration
	for seed := c.first; seed < c.first+uint64(c.seeds); seed++ {
		line, last := killUnderLoad(t, &c, seed)
		table, latest = append(table, line), max(latest, last)
	}
	t.Logf("seconds from the last restart of each round to the delivery of the last overdue timer; latest %.1f, bound %.0f",
		latest.Seconds(), killGrace.Seconds())
	for _, line := range table {
		t.Log(line)
	}
}

// killUnderLoad runs the rounds of one seed.
func killUnderLoad(t *testing.T, c *campaign, seed uint64) (line string, latest time.Duration) {
	t.Helper()
	w, events := c.start(t)
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := newLoad(t, w)
	l.seed, l.followUps = seed, true
	if c.full {
		l.mix, l.pace = crowded, 0
	}
	random := rand.New(rand.NewPCG(seed, 0))
	line = fmt.Sprintf("seed %d:", seed)
	for round := 1; round <= c.rounds; round++ {
		// Leases make a round of a light campaign longer, so only the first round has them.
		l.long.Store(round == 1 || c.full)
		before, began := l.operations(), time.Now()
		stop := l.start(t.Context(), c.clients)
		pause(t.Context(), c.ramp())
		rate := float64(l.operations()-before) / time.Since(began).Seconds()
		var restarted time.Time
		for range c.kills {
			pause(t.Context(), time.Duration(random.Int64N(int64(3*time.Second))))
			l.Killed(time.Now())
			if err := w.Kill(); err != nil {
				t.Fatal(err)
			}
			restarted = time.Now()
			if err := w.Start(within(t, patience)); err != nil {
				t.Fatal(err)
			}
			l.Restarted(restarted)
		}
		ready := time.Since(restarted)
		pause(t.Context(), 300*time.Millisecond) // the load continues after the restart
		stop()
		l.settle(within(t, 3*time.Minute), t, events(), restarted, killGrace)
		report := l.Report(time.Now().Add(-killGrace))
		t.Logf("seed %d, round %d of %d: %.0f operations/s before the first of %d kills, ready %.1f s after the last restart, "+
			"%d overdue timers delivered, the last after %.1f s",
			seed, round, c.rounds, rate, c.kills, ready.Seconds(), report.LastRecovered, report.LastRecovery.Seconds())
		t.Logf("seed %d, round %d: %d follow-ups, lost %d, second or unexpected %d, repeated %d",
			seed, round, report.FollowUps, report.LostFollowUps, report.WrongFollowUps, report.RepeatedFollowUps)
		line += fmt.Sprintf(" %.1f", report.LastRecovery.Seconds())
		latest = max(latest, report.LastRecovery)
		if report.Bad() > 0 || report.LastRecovery > killGrace {
			t.Fatalf("a promise is broken: %s", report.String())
		}
	}
	r := l.Report(time.Now())
	t.Logf("seed %d: %s", seed, r.String())
	if r.Created == 0 || r.Fired == 0 || r.DeletedInTime == 0 || r.Updated == 0 || r.FollowUps == 0 {
		t.Errorf("the test proves nothing: %s", r.String())
	}
	w.emptyWithin(t, killGrace)
	return line, latest
}

// start starts a service, and returns a function that returns a reader of its events after a restart.
func (c *campaign) start(t *testing.T) (*world, func() events) {
	t.Helper()
	if c.bus == "" {
		w := startOwn(t)
		return w, func() events {
			w.connectTap(t)
			return w.tap
		}
	}
	bus := needBus(t, c.bus)
	w := &world{Service: newService(t, t.TempDir(), harness.WithArgs("--bus", bus.url)), namespace: "default"}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	w.connectAPI(t)
	return w, func() events { return bus.events(t) }
}

// ramp is the shortest time under load before a kill. A full load runs until timers fire at the rate of creates.
func (c *campaign) ramp() time.Duration {
	if c.full {
		return span
	}
	return time.Second
}

// emptyWithin fails if timers remain for longer than late, including those whose create had an unknown outcome.
func (w *world) emptyWithin(t *testing.T, late time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(late); ; pause(t.Context(), 200*time.Millisecond) {
		var left []client.Timer
		for timer, err := range w.api.AllTimers(t.Context(), client.ListTimersRequest{Namespace: w.namespace}) {
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, timer)
		}
		if len(left) > 0 && time.Now().Before(deadline) {
			continue
		}
		for i := range left {
			timer := &left[i]
			t.Errorf("timer %s still exists: %s, due at %v, %d attempts, %s", timer.ID, timer.Status, timer.DueAt, timer.Attempts, timer.LastError)
		}
		return
	}
}
