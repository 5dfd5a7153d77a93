package e2e_test

import (
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/internal/testserver"
)

// cluster has the roles as separate processes, on a database (database_test.go) and a message bus. The service of its
// world is the first ingest.
type cluster struct {
	*world

	store string
	bus   *messageBus
	// options apply to processes that are launched later.
	options []harness.Option
	// members are all processes, ingests first.
	members []*member
}

type member struct {
	*harness.Service

	name string
	// store and bus are the wires of launchWired; nil otherwise.
	store, bus *wire
}

// startCluster starts the given numbers of each role with a NATS server in this process.
func startCluster(t *testing.T, ingests, schedulers, dispatchers int) *cluster {
	t.Helper()
	return startClusterOn(t, ownNATS(t, ""), ingests, schedulers, dispatchers)
}

// startClusterOn starts the given numbers of each role.
func startClusterOn(t *testing.T, bus *messageBus, ingests, schedulers, dispatchers int) *cluster {
	t.Helper()
	c := &cluster{store: chosen().fresh(t), bus: bus}
	c.migrate(t, binary)
	c.start(t, ingests, schedulers, dispatchers)
	return c
}

func (c *cluster) migrate(t *testing.T, binary string) {
	t.Helper()
	if out, err := exec.CommandContext(within(t, patience), binary, "migrate", "up", "--store", c.store).CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
}

func (c *cluster) start(t *testing.T, ingests, schedulers, dispatchers int) {
	t.Helper()
	for _, role := range []struct {
		name  string
		count int
	}{{"ingest", ingests}, {"scheduler", schedulers}, {"dispatcher", dispatchers}} {
		for i := range role.count {
			c.launch(t, role.name, i+1)
		}
	}
	c.ready(t)
	c.world = &world{Service: c.members[0].Service, namespace: "default"}
	c.connectAPI(t)
}

// launch starts one more process, and does not wait until it is ready.
func (c *cluster) launch(t *testing.T, role string, number int) *member {
	t.Helper()
	return c.launchOn(t, role, number, c.store, c.bus.url)
}

// launchWired starts one more process whose connections to the store and to the bus can be cut.
func (c *cluster) launchWired(t *testing.T, role string, number int) *member {
	t.Helper()
	server, err := url.Parse(testserver.Address(t, chosen().server))
	if err != nil {
		t.Fatal(err)
	}
	store := newWire(t, "127.0.0.1:0", server.Host)
	bus, busURL := c.bus.newWire(t)
	m := c.launchOn(t, role, number, over(t, c.store, server.Host, store.listener.Addr().String()), busURL)
	m.store, m.bus = store, bus
	return m
}

func (c *cluster) launchOn(t *testing.T, role string, number int, store, bus string) *member {
	t.Helper()
	name := fmt.Sprintf("%s-%d", role, number)
	options := append([]harness.Option{harness.WithRole(role, store, bus), harness.WithArgs("--node", name)}, c.options...)
	m := &member{Service: newService(t, "", options...), name: name}
	c.members = append(c.members, m)
	if err := m.Launch(); err != nil {
		t.Fatal(err)
	}
	return m
}

// ready waits until every process is ready.
func (c *cluster) ready(t *testing.T) {
	t.Helper()
	for _, m := range c.members {
		if err := m.Ready(within(t, patience)); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
	}
}

// Tests that stop a server of testenv, or that check lateness, are not parallel. Parallel tests start after them.

// TestRolesShareTheWork: timers that one process accepts are scheduled and delivered by others, and an orderly stop
// hands everything over.
func TestRolesShareTheWork(t *testing.T) {
	c := startCluster(t, 1, 2, 2)
	const timers = 400
	for i := range timers {
		c.create(t, fmt.Sprint("r/", i), time.Duration(i%20)*100*time.Millisecond)
	}
	// Both schedulers own shards.
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

// TestTheDatabaseComesBack: while the database is down, writes are refused and no process is ready. When it is back,
// everything works again without a restart.
func TestTheDatabaseComesBack(t *testing.T) {
	on := chosen()
	testserver.Address(t, on.server)
	if !controllable() {
		t.Skip("the server was not started by testenv, so that it cannot be killed")
	}
	c := startCluster(t, 1, 1, 1)
	c.create(t, "before", 2*time.Second)
	testserver.Control(t, "kill/"+on.server)
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
	testserver.Control(t, "start/"+on.server)
	c.ready(t)
	c.calls(t, "before", 1)
	c.create(t, "after", 0)
	c.calls(t, "after", 1)
}
