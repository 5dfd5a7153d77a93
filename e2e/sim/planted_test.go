package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/sim"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// planted changes, each of which must be caught.
var planted = []struct {
	name   string
	change func(*sim.Configs)
}{
	{"no sweep", func(c *sim.Configs) { c.Scheduler.Sweep = 1000 * time.Hour }},
	{"no row check", func(c *sim.Configs) { c.Dispatcher.Store = &unchecked{Store: c.Dispatcher.Store} }},
	{"Finish without compare-and-set", func(c *sim.Configs) { c.Dispatcher.Store = &unguarded{Store: c.Dispatcher.Store} }},
}

func TestPlantedChangesAreCaught(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			first, count := seeds(t, 500)
			for seed := first; seed < first+uint64(count); seed++ {
				plan := sim.Draw(seed)
				if r := sim.Run(t, &plan, sim.Options{Change: p.change}); len(r.Violations) > 0 {
					t.Logf("caught after %d seeds: %v", seed-first+1, r.Violations[0])
					return
				}
			}
			t.Errorf("not caught in %d seeds", count)
		})
	}
}

// unchecked remembers what a timer looked like and says that it still does.
type unchecked struct {
	dispatcher.Store
}

func (u *unchecked) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	rows, err := u.Store.Current(ctx, checks)
	for i := range rows {
		if rows[i].Found {
			rows[i].Timer.Revision = checks[i].Revision
		}
	}
	return rows, err
}

// unguarded finishes whatever is there.
type unguarded struct{ dispatcher.Store }

func (u *unguarded) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	checks := make([]store.Check, len(items))
	for i := range items {
		checks[i] = store.Check{Ref: items[i].Ref}
	}
	rows, err := u.Store.Current(ctx, checks)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].If = store.Guard{Revision: rows[i].Timer.Revision}
	}
	return u.Store.Finish(ctx, now, items)
}
