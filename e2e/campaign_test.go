package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/oracle"
	"github.com/timerbus/timerbus/internal/testserver"
)

// A cluster campaign runs rounds on a cluster with two processes of each role. A round has a load, one fault during the
// load, and the wait until no timer is overdue. Each seed starts a new cluster and uses each fault once.

// clusterCampaign is the configuration of TestClusterCampaign.
type clusterCampaign struct {
	first uint64
	seeds int
	// buses are names in testenv. A campaign without buses has a NATS server in the test process, and only short
	// rounds.
	buses []string
}

// clusterCampaignOf reads TIMERBUS_CAMPAIGN_BUS, _SEEDS and _FIRST, which `make campaign` sets.
func clusterCampaignOf(t *testing.T) clusterCampaign {
	t.Helper()
	names := os.Getenv("TIMERBUS_CAMPAIGN_BUS")
	if names == "" {
		return clusterCampaign{first: rand.Uint64N(1 << 32), seeds: 1}
	}
	c := clusterCampaign{
		first: uint64(number(t, "TIMERBUS_CAMPAIGN_FIRST", 1)),
		seeds: number(t, "TIMERBUS_CAMPAIGN_SEEDS", 3),
		buses: strings.Split(names, ","),
	}
	for _, name := range c.buses {
		if !slices.Contains(lone, name) {
			t.Fatalf("TIMERBUS_CAMPAIGN_BUS: %q is not accepted: want %s, separated by commas", name, strings.Join(lone, " or "))
		}
	}
	return c
}

// fault is the fault of a round.
type fault struct {
	// verb is kill, freeze or cut. A process or server that was killed is started again within seconds.
	verb string
	// victim is a role, of which one process is drawn, or database or broker.
	victim string
	// from is the server from which a process is cut off: store or bus.
	from string
	// total: no process can work during the fault, so lateness has no bound.
	total bool
	// short: part of a campaign without settings.
	short bool
}

func (f fault) String() string {
	if f.from != "" {
		return f.verb + " " + f.victim + " from " + f.from
	}
	return f.verb + " " + f.victim
}

// faults in the order of the table.
var faults = []fault{
	{verb: "kill", victim: "ingest"},
	{verb: "kill", victim: "scheduler", short: true},
	{verb: "kill", victim: "dispatcher", short: true},
	{verb: "freeze", victim: "ingest"},
	{verb: "freeze", victim: "scheduler", short: true},
	{verb: "freeze", victim: "dispatcher"},
	{verb: "cut", victim: "scheduler", from: "store"},
	{verb: "cut", victim: "dispatcher", from: "store"},
	{verb: "cut", victim: "scheduler", from: "bus"},
	{verb: "cut", victim: "dispatcher", from: "bus"},
	{verb: "kill", victim: "broker", total: true},
	{verb: "kill", victim: "database", total: true, short: true},
	{verb: "freeze", victim: "database", total: true},
}

const (
	// clusterGrace is the time after the end of a fault within which all overdue timers must be delivered: the timers
	// of a frozen or dead process are due again after their row leases (15 s) and redelivery (30 s).
	clusterGrace = 40 * time.Second
	// storeCut and busCut are longer than the leases that the process cannot renew.
	storeCut, busCut = 15 * time.Second, 10 * time.Second
)

// lateness is the bound for first attempts outside total outages.
func (b *messageBus) lateness() time.Duration {
	if b.wakesAsOwner {
		return 15*time.Second + chosen().late
	}
	return 8*time.Second + chosen().late
}

// TestClusterCampaign runs faults of processes, their connections and the servers. No timer is lost or early, and
// repeated deliveries have the webhook-id of the first one. While one process of each role can work, lateness has a
// bound.
func TestClusterCampaign(t *testing.T) {
	c := clusterCampaignOf(t)
	if c.buses == nil {
		played := table{}
		defer played.print(t)
		played.playSeed(t, ownNATS(t, ""), c.first, slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !f.short }))
		return
	}
	for _, name := range c.buses {
		t.Run(name, func(t *testing.T) {
			played := table{}
			defer played.print(t)
			for seed := c.first; seed < c.first+uint64(c.seeds); seed++ {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { played.playSeed(t, needBus(t, name), seed, faults) })
			}
		})
	}
}

// table has a line for each fault.
type table map[fault]*line

// line is the sum of the rounds with one fault.
type line struct {
	rounds, timers, repeated int
	latest                   time.Duration
}

func (played table) add(f fault, r *oracle.Round) {
	if played[f] == nil {
		played[f] = &line{}
	}
	l := played[f]
	l.rounds++
	l.timers += r.First
	l.repeated += r.Duplicates
	l.latest = max(l.latest, r.MaxLateness)
}

// print logs the table as Markdown.
func (played table) print(t *testing.T) {
	t.Helper()
	text := "\n| fault | rounds | timers | worst lateness | repeated deliveries |\n|---|---|---|---|---|\n"
	for _, f := range faults {
		if l := played[f]; l != nil {
			text += fmt.Sprintf("| %s | %d | %d | %.1f s | %d |\n", f, l.rounds, l.timers, l.latest.Seconds(), l.repeated)
		}
	}
	t.Log(text)
}

// playSeed runs faults on a new cluster, in the order given by the seed.
func (played table) playSeed(t *testing.T, bus *messageBus, seed uint64, faults []fault) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	faults = slices.Clone(faults)
	random.Shuffle(len(faults), func(i, k int) { faults[i], faults[k] = faults[k], faults[i] })
	c := startClusterOn(t, bus, 2, 1, 1)
	c.launchWired(t, "scheduler", 2)
	c.launchWired(t, "dispatcher", 2)
	c.ready(t)
	l := newLoad(t, c.world, c.member("ingest-2"))
	l.seed, l.followUps = seed, true
	if len(bus.nodes) > 0 { // not the short campaign
		l.mix, l.pace = sparse, 200*time.Millisecond
		l.long.Store(true)
	}
	for i, f := range faults {
		if f.total && !controllable() {
			t.Logf("seed %d, %s: left out, the servers were not started by testenv", seed, f)
			continue
		}
		report := c.playRound(t, l, random, f)
		played.add(f, &report.Round)
		t.Logf("seed %d, round %d of %d, %s: %d timers, up to %.1f s late, %d repeated; the last of %d overdue ones was delivered %.1f s after the "+
			"end of the fault", seed, i+1, len(faults), f, report.Round.First, report.Round.MaxLateness.Seconds(), report.Round.Duplicates,
			report.LastRecovered, report.LastRecovery.Seconds())
		if report.Bad() > 0 || report.LastRecovery > clusterGrace {
			t.Fatalf("seed %d, %s: a promise is broken: %s", seed, f, report.String())
		}
		if limit := bus.lateness(); report.Round.MaxLateness > limit && !f.total {
			t.Errorf("seed %d, %s: a timer was delivered %v late, want %v at most", seed, f, report.Round.MaxLateness, limit)
		}
		if report.Round.First == 0 {
			t.Errorf("seed %d, %s: no timer was due: the test proves nothing", seed, f)
		}
	}
	r := l.Report(time.Now())
	t.Logf("seed %d: %s", seed, r.String())
	if r.Created == 0 || r.Fired == 0 || r.DeletedInTime == 0 || r.Updated == 0 || r.FollowUps == 0 {
		t.Errorf("the test proves nothing: %s", r.String())
	}
	c.emptyWithin(t, clusterGrace)
}

// playRound begins when both schedulers and dispatchers are working.
func (c *cluster) playRound(t *testing.T, l *load, random *rand.Rand, f fault) oracle.Report {
	t.Helper()
	c.ready(t)
	c.heldBy(t, time.Now(), "scheduler-1", "scheduler-2")
	stop := l.start(t.Context(), 4)
	ramp := 500 * time.Millisecond
	if l.long.Load() {
		ramp = 4 * time.Second // by then long callbacks are in flight
	}
	pause(t.Context(), between(random, ramp, ramp+time.Second))
	l.Killed(time.Now())
	c.hurt(t, random, f)
	back := time.Now()
	l.Restarted(back)
	c.ready(t)
	pause(t.Context(), 300*time.Millisecond) // the load continues after the fault
	stop()
	l.settle(within(t, 3*time.Minute), t, c.bus.events(t), back, clusterGrace)
	return l.Report(time.Now().Add(-clusterGrace))
}

// between draws a duration.
func between(random *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(random.Int64N(int64(high-low)))
}

// healing is the verb that ends a fault.
var healing = map[string]string{"kill": "start", "freeze": "thaw", "cut": "heal"}

// hurt applies a fault and ends it.
func (c *cluster) hurt(t *testing.T, random *rand.Rand, f fault) {
	t.Helper()
	var lasts time.Duration
	switch {
	case f.verb == "kill":
		lasts = between(random, 0, 2*time.Second)
	case f.verb == "freeze":
		// Longer than the leases of NATS, so that other processes take over.
		lasts = between(random, 2*time.Second, 5*time.Second)
	case f.from == "store":
		lasts = storeCut
	default:
		lasts = busCut
	}
	do := c.victim(t, random, f)
	do(f.verb)
	pause(t.Context(), lasts)
	do(healing[f.verb])
}

// victim draws a process, or finds the server, and returns a function that applies a verb to it.
func (c *cluster) victim(t *testing.T, random *rand.Rand, f fault) (do func(verb string)) {
	t.Helper()
	if server := map[string]string{"database": chosen().server, "broker": strings.Join(c.bus.nodes, "")}[f.victim]; server != "" {
		return func(verb string) {
			t.Helper()
			testserver.Control(t, verb+"/"+server)
		}
	}
	m := c.member(fmt.Sprintf("%s-%d", f.victim, 1+random.IntN(2)))
	if f.verb == "cut" {
		m = c.member(f.victim + "-2") // the process with wires
	}
	w := map[string]*wire{"store": m.store, "bus": m.bus}[f.from]
	return func(verb string) {
		t.Helper()
		var err error
		switch verb {
		case "kill":
			err = m.Kill()
		case "start":
			err = m.Launch()
		case "freeze":
			err = m.Signal(syscall.SIGSTOP)
		case "thaw":
			err = m.Signal(syscall.SIGCONT)
		case "cut":
			w.isolate()
		case "heal":
			// A process that does not notice the cut would make the test meaningless.
			if r := (&world{Service: m.Service}).do(t, "GET", "/readyz", ""); r.status != 503 {
				t.Errorf("%s is cut off from the %s, and answers %d %s", m.name, f.from, r.status, r.body)
			}
			w.heal()
		}
		if err != nil {
			t.Fatalf("%s %s: %v", verb, m.name, err)
		}
	}
}
