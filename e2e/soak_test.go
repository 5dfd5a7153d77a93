package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
)

// soak is the configuration of TestSoak.
type soak struct {
	lasts time.Duration
	// every is the longest wait before a kill; the shortest is half of it.
	every time.Duration
	seed  uint64
	// bus is the name of a bus in testenv. Without it a NATS server runs in the test process.
	bus string
	// database: the database is killed once, in the middle.
	database bool
}

// soakOf reads TIMERBUS_SOAK_MINUTES, _FIRST and _BUS, which `make soak` sets. Without them a soak takes seconds.
func soakOf(t *testing.T) soak {
	t.Helper()
	if os.Getenv("TIMERBUS_SOAK_MINUTES") == "" {
		return soak{lasts: 6 * time.Second, every: 3 * time.Second, seed: rand.Uint64N(1 << 32)}
	}
	return soak{
		lasts:    time.Duration(number(t, "TIMERBUS_SOAK_MINUTES", 5)) * time.Minute,
		every:    20 * time.Second,
		seed:     uint64(number(t, "TIMERBUS_SOAK_FIRST", 1)),
		bus:      os.Getenv("TIMERBUS_SOAK_BUS"),
		database: controllable(),
	}
}

// soakMemory bounds the resident memory of each process, in bytes.
const soakMemory = 512 << 20

// TestSoak runs a cluster with two processes of each role under one load that never pauses. A process of a random role is
// killed with SIGKILL about every 20 s and started again, and the database once. No timer is lost or early, every duplicate
// is attributable, at the end no timer is left, and the memory of every process stays bounded.
func TestSoak(t *testing.T) {
	config := soakOf(t)
	bus := ownNATS(t, "")
	if config.bus != "" {
		bus = needBus(t, config.bus)
	}
	c := startClusterOn(t, bus, 2, 2, 2)
	l := newLoad(t, c.world, c.member("ingest-2"))
	l.seed, l.followUps = config.seed, true
	random := rand.New(rand.NewPCG(config.seed, 0))
	stop := l.start(t.Context(), 8)

	began := time.Now()
	back, before, at := began, int64(0), began
	kills, mostMemory := 0, uint64(0)
	for time.Since(began) < config.lasts {
		pause(t.Context(), between(random, config.every/2, config.every))
		victim := "database"
		l.Killed(time.Now())
		if config.database && time.Since(began) > config.lasts/2 {
			config.database = false
			testserver.Control(t, "kill/"+chosen().server)
			pause(t.Context(), time.Second)
			testserver.Control(t, "start/"+chosen().server)
		} else {
			m := c.members[random.IntN(len(c.members))]
			victim = m.name
			if err := m.Kill(); err != nil {
				t.Fatal(err)
			}
			pause(t.Context(), between(random, 0, time.Second))
			if err := m.Launch(); err != nil {
				t.Fatal(err)
			}
		}
		kills++
		back = time.Now()
		l.Restarted(back)
		c.ready(t)
		pause(t.Context(), config.every/4)
		if err := l.hear(within(t, patience), bus.events(t)); err != nil {
			t.Fatal(err)
		}
		memory := c.memory(t)
		mostMemory = max(mostMemory, memory)
		rate := float64(l.operations()-before) / time.Since(at).Seconds()
		before, at = l.operations(), time.Now()
		r := l.Report(time.Now().Add(-clusterGrace))
		t.Logf("%3.0f s: killed %s; %.0f operations/s; %d fired, %d repeated; largest process %d MiB; %d promises broken",
			time.Since(began).Seconds(), victim, rate, r.Fired, r.Duplicates, memory>>20, r.Bad())
		if r.Bad() > 0 {
			t.Fatalf("seed %d: a promise is broken: %s", config.seed, r.String())
		}
	}
	stop()
	l.settle(within(t, 3*time.Minute), t, bus.events(t), back, clusterGrace)
	r := l.Report(time.Now().Add(-clusterGrace))
	t.Logf("seed %d, %.0f s, %d kills, largest process %d MiB: %s", config.seed, time.Since(began).Seconds(), kills, mostMemory>>20, r.String())
	if r.Bad() > 0 {
		t.Errorf("a promise is broken")
	}
	if r.Created == 0 || r.Fired == 0 || r.DeletedInTime == 0 || r.Updated == 0 || r.FollowUps == 0 || kills == 0 {
		t.Errorf("the test proves nothing")
	}
	if mostMemory > soakMemory {
		t.Errorf("a process used %d MiB, want %d at most", mostMemory>>20, soakMemory>>20)
	}
	c.emptyWithin(t, clusterGrace)
}

// memory returns the largest resident memory of the processes, in bytes.
func (c *cluster) memory(t *testing.T) (most uint64) {
	t.Helper()
	for _, m := range c.members {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", m.PID()))
		if os.IsNotExist(err) {
			continue // not Linux
		}
		if err != nil {
			t.Fatal(err)
		}
		pages, err := strconv.ParseUint(strings.Fields(string(text))[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, pages*uint64(os.Getpagesize()))
	}
	return most
}
