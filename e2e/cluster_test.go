package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/pkg/timer"
)

// cluster is the roles as processes of their own, on a database (database_test.go) and a message bus. Its world's
// service is the first ingest.
type cluster struct {
	*world

	store string
	bus   *messageBus
	// members are all processes, ingests first.
	members []*member
}

type member struct {
	*harness.Service

	name string
}

// startCluster starts so many of each role on a NATS server in this process.
func startCluster(t *testing.T, ingests, schedulers, dispatchers int) *cluster {
	t.Helper()
	return startClusterOn(t, ownNATS(t, ""), ingests, schedulers, dispatchers)
}

// startClusterOn starts so many of each role.
func startClusterOn(t *testing.T, bus *messageBus, ingests, schedulers, dispatchers int) *cluster {
	t.Helper()
	c := &cluster{store: chosen().fresh(t), bus: bus}
	if out, err := exec.CommandContext(within(t, patience), binary, "migrate", "up", "--store", c.store).CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	for _, role := range []struct {
		name  string
		count int
	}{{"ingest", ingests}, {"scheduler", schedulers}, {"dispatcher", dispatchers}} {
		for i := range role.count {
			c.launch(t, role.name, i+1)
		}
	}
	for _, m := range c.members {
		if err := m.Ready(within(t, patience)); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
	}
	c.world = &world{Service: c.members[0].Service, namespace: "default"}
	c.connectAPI(t)
	return c
}

// launch starts one more process, and does not wait until it is ready.
func (c *cluster) launch(t *testing.T, role string, number int) *member {
	t.Helper()
	name := fmt.Sprintf("%s-%d", role, number)
	m := &member{newService(t, "", harness.WithRole(role, c.store, c.bus.url), harness.WithArgs("--node", name)), name}
	c.members = append(c.members, m)
	if err := m.Launch(); err != nil {
		t.Fatal(err)
	}
	return m
}

// These tests are not parallel: some of them take the database away.

// TestRolesShareTheWork: timers that one process takes in are scheduled and delivered by others, and a stop in
// good order hands everything over.
func TestRolesShareTheWork(t *testing.T) {
	c := startCluster(t, 1, 2, 2)
	const timers = 400
	for i := range timers {
		c.create(t, fmt.Sprint("r/", i), time.Duration(i%20)*100*time.Millisecond)
	}
	// Both schedulers hold shards.
	holders := map[string]bool{}
	for deadline := time.Now().Add(patience); len(holders) < 2 && time.Now().Before(deadline); pause(t.Context(), 50*time.Millisecond) {
		shards, err := c.api.ListShards(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range shards {
			if s.Held {
				holders[s.Node] = true
			}
		}
	}
	if !holders["scheduler-1"] || !holders["scheduler-2"] {
		t.Errorf("shards are held by %v", holders)
	}
	for _, name := range []string{"scheduler-1", "dispatcher-1"} {
		if code, err := c.member(name).Stop(within(t, patience)); err != nil || code != 0 {
			t.Fatalf("%s stopped with %d, %v", name, code, err)
		}
	}
	twice := 0
	for i := range timers {
		if calls := c.calls(t, fmt.Sprint("r/", i), 1); len(calls) > 1 {
			twice++
		}
	}
	for i := range timers {
		c.reaches(t, fmt.Sprint("r/", i), isStatus("done"))
	}
	if twice > 0 {
		t.Errorf("%d of %d timers fired twice over a hand-over in good order", twice, timers)
	}
}

func (c *cluster) member(name string) *member {
	for _, m := range c.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// soakFor is TIMERBUS_SOAK_MINUTES, or as long as everybody has time for.
func soakFor(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("TIMERBUS_SOAK_MINUTES")
	if text == "" {
		return 0
	}
	d, err := timer.ParseDuration(text + "m")
	if err != nil || d <= 0 {
		t.Fatalf("TIMERBUS_SOAK_MINUTES: %q is not accepted: want a number of minutes", text)
	}
	return d
}

// TestClusterUnderKills kills and freezes processes and the database in the middle of a load, round after round,
// and lets the oracle judge.
func TestClusterUnderKills(t *testing.T) {
	c := startCluster(t, 2, 2, 2)
	l := newLoad(t, c.world)
	until := time.Now().Add(soakFor(t))
	rounds := []string{"kill dispatcher", "kill scheduler", "freeze scheduler", "kill database"}
	victims := []string{"ingest", "scheduler", "dispatcher", "database"}
	if !controllable() {
		t.Log("the database was not started by testenv: it is left alone")
		rounds, victims = rounds[:3], victims[:3]
	}
	for round := 0; round < len(rounds) || time.Now().Before(until); round++ {
		what := []string{"kill ", "freeze "}[rand.IntN(2)] + victims[rand.IntN(len(victims))]
		if round < len(rounds) {
			what = rounds[round]
		}
		l.long.Store(soakFor(t) > 0)
		stop := l.start(t.Context(), 6)
		pause(t.Context(), 500*time.Millisecond+rand.N(1500*time.Millisecond))
		l.Killed(time.Now())
		c.hurt(t, what)
		back := time.Now()
		l.Restarted(back)
		pause(t.Context(), 300*time.Millisecond) // the load goes on
		stop()
		l.settle(within(t, 3*time.Minute), t, c.bus.events(t), back, clusterGrace)
		report := l.Report(time.Now().Add(-clusterGrace))
		t.Logf("round %d, %s: %s", round+1, what, report.String())
		if report.Bad() > 0 || report.MaxRecovery > clusterGrace {
			t.Fatal("a promise is broken")
		}
	}
	if r := l.Report(time.Now()); r.Created == 0 || r.Fired == 0 || r.DeletedInTime == 0 || r.Updated == 0 {
		t.Errorf("this proves nothing: %s", r.String())
	}
}

// clusterGrace is within what time of the end of a fault everything due must have come: what a frozen or dead
// process was at is due again when its row leases (15 s) and redelivery (30 s) are over.
const clusterGrace = 40 * time.Second

// hurt does something to one process, and returns when it is over.
func (c *cluster) hurt(t *testing.T, what string) {
	t.Helper()
	verb, role, _ := strings.Cut(what, " ")
	if role == "database" {
		server := chosen().server
		control(t, verb+"/"+server)
		pause(t.Context(), rand.N(3*time.Second))
		control(t, map[string]string{"kill": "start", "freeze": "thaw"}[verb]+"/"+server)
		return
	}
	m := c.member(fmt.Sprintf("%s-%d", role, 1+rand.IntN(2)))
	if verb == "kill" {
		if err := m.Kill(); err != nil {
			t.Fatal(err)
		}
		pause(t.Context(), rand.N(2*time.Second))
		if err := m.Start(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		return
	}
	// Longer than the leases of the bus, so that others take over meanwhile.
	if err := m.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	pause(t.Context(), 2*time.Second+rand.N(3*time.Second))
	if err := m.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := m.Ready(within(t, patience)); err != nil {
		t.Fatalf("%s does not recover: %v", m.name, err)
	}
}

// TestTheDatabaseComesBack: while it is away nothing is taken in and readiness is red; when it is back, everything
// goes on by itself.
func TestTheDatabaseComesBack(t *testing.T) {
	on := chosen()
	on.address(t)
	if !controllable() {
		t.Skip("the server was not started by testenv, so that it cannot be killed")
	}
	c := startCluster(t, 1, 1, 1)
	c.create(t, "before", 2*time.Second)
	control(t, "kill/"+on.server)
	for _, m := range c.members {
		for deadline := time.Now().Add(patience); ; pause(t.Context(), 50*time.Millisecond) {
			r := (&world{Service: m.Service}).do(t, "GET", "/readyz", "")
			if r.status == 503 && strings.Contains(r.body, "the store does not answer") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: readiness stays %d %s", m.name, r.status, r.body)
			}
		}
	}
	r := c.post(t, "timers/create", `{"namespace":"NS","id":"meanwhile","executeIn":"1s"}`)
	if r.status != 503 && r.status != 504 {
		t.Errorf("a create without a database: %d %s", r.status, r.body)
	}
	control(t, "start/"+on.server)
	for _, m := range c.members {
		if err := m.Ready(within(t, patience)); err != nil {
			t.Fatalf("%s does not recover: %v", m.name, err)
		}
	}
	c.calls(t, "before", 1)
	c.create(t, "after", 0)
	c.calls(t, "after", 1)
}
