package sim_test

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/sim"
)

// The numbers of lives. With -short, the loop of a developer, they are smaller.
type numbers struct {
	// seeds is that of TestSeeds, unless SIM_SEEDS sets it; backlogs that of lives with a backlog.
	seeds, backlogs int
	// search is how many lives a planted change is searched in. With -short a change that is not caught by then is
	// skipped, because many need hundreds.
	search int
	// failing and times are how many failing lives are repeated, and how often.
	failing, times int
}

func lives() numbers {
	switch {
	case testing.Short():
		return numbers{seeds: 40, backlogs: 2, search: 3, failing: 1, times: 5}
	case shuffled:
		// A seed then does not determine the life.
		return numbers{seeds: 200, backlogs: 8, search: 2000, failing: 5, times: 10}
	default:
		return numbers{seeds: 200, backlogs: 8, search: 500, failing: 5, times: 10}
	}
}

// TestMain uses one processor, so that a seed runs the same way again.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// seeds returns the number of lives to run, and the first seed: SIM_SEEDS and SIM_FIRST.
func seeds(t *testing.T, standard int) (first uint64, count int) {
	t.Helper()
	count = standard
	if s := os.Getenv("SIM_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("SIM_SEEDS=%q: want a positive number", s)
		}
		count = n
	}
	if s := os.Getenv("SIM_FIRST"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("SIM_FIRST=%q: want a number", s)
		}
		first = n
	}
	return first, count
}

// show prints the smallest plan that still fails, and its trace.
func show(t *testing.T, plan sim.Plan, options sim.Options) {
	t.Helper()
	const lives = 200
	small := sim.Shrink(t, plan, options, lives)
	options.Trace = true
	r := sim.Run(t, &small, options)
	t.Logf("%d of %d operations and %d of %d faults are enough:\n%s\n%s", len(small.Ops), len(plan.Ops),
		len(small.Faults), len(plan.Faults), &small, strings.Join(r.Trace, "\n"))
}

// TestI16_ABacklogIsPlayedWhileOtherNamespacesAreIdle: the rule "fair" is checked in every life with a backlog, during
// the backlog.
func TestI16_ABacklogIsPlayedWhileOtherNamespacesAreIdle(t *testing.T) {
	played := 0
	for seed := uint64(0); played < lives().backlogs; seed++ {
		plan := sim.Draw(seed)
		if !slices.ContainsFunc(plan.Ops, func(o sim.Op) bool { return o.Bulk }) {
			continue
		}
		played++
		if r := sim.Run(t, &plan, sim.Options{}); r.Others < 3 || len(r.Violations) > 0 {
			t.Errorf("seed %d: %d deliveries of other namespaces during the backlog, want at least 3; violations: %v",
				seed, r.Others, r.Violations)
		}
	}
}

// judged returns which violations count: all, or those of the rules in SIM_RULES, such as "late,far_early". A mutant
// names the rules that must notice it; then violations of further rules do not count.
func judged(t *testing.T) (counts func(sim.Violation) bool, all bool) {
	t.Helper()
	names := os.Getenv("SIM_RULES")
	if names == "" {
		return func(sim.Violation) bool { return true }, true
	}
	rules := strings.Split(strings.ReplaceAll(names, "_", " "), ",")
	return func(v sim.Violation) bool { return slices.Contains(rules, v.Rule) }, false
}

// effects are what 1,000 lives must contain.
var effects = []string{
	"schedules/create by topic, applied", "schedules/update by topic, applied", "schedules/update with pending by topic, applied",
	"schedules/pause by topic, applied", "schedules/resume by topic, applied", "schedules/trigger by topic, applied",
	"schedules/backfill by topic, applied", "schedules/delete with pending by topic, applied", "schedules/update with pending, applied",
	"schedules/backfill, applied", "schedules/pause-matching, schedules changed", "schedules/resume-matching, schedules changed",
	"schedules/delete-matching, schedules changed", "commands for schedules recognized as repeated", "pending occurrences deleted",
	"occurrences created by backfills", "occurrences kept by backfills", "local/create by topic, applied", "local times delivered",
	"local times moved by a check", "local times of paused timers moved by a check", "local times kept because they have no instant",
}

func TestSeeds(t *testing.T) {
	first, count := seeds(t, lives().seeds)
	counts, all := judged(t)
	var sum sim.Report
	start := time.Now()
	for seed := first; seed < first+uint64(count); seed++ {
		plan := sim.Draw(seed)
		r := sim.Run(t, &plan, sim.Options{})
		sum.Add(r)
		if slices.ContainsFunc(r.Violations, counts) {
			if all { // otherwise the smallest plan may break another rule
				show(t, plan, sim.Options{})
			}
			t.Fatalf("seed %d (SIM_FIRST=%d SIM_SEEDS=1 plays it alone): %v", seed, seed, r.Violations)
		}
	}
	if count >= 200 && all && (sum.FollowUps == 0 || sum.Expired == 0 || sum.Denied == 0 || sum.Runs == 0 || sum.Pauses == 0) {
		t.Errorf("the options of timers are not drawn: %s", sum.String())
	}
	for _, effect := range effects {
		if count >= 1000 && all && sum.Effects[effect] == 0 {
			t.Errorf("%d lives have no %q", count, effect)
		}
	}
	t.Logf("%d lives in %v: %s", count, time.Since(start).Round(time.Millisecond), sum.String())
}
