package sim

import (
	"cmp"
	"strings"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// resultsOf returns which results of a namespace are published.
func (p *Plan) resultsOf(namespace string) store.Results {
	if namespace == lateNamespace || namespace == removedNamespace { // clients create them
		return store.ResultsAll
	}
	return cmp.Or(p.Results, store.ResultsAll)
}

// checkSelected implements the part of I14 that is about namespaces without results: no other result is published.
func (o *oracle) checkSelected(r *event.Result) {
	if of := o.world.plan.resultsOf(r.Namespace); !of.Publishes(store.Outcome(r.Outcome)) {
		o.broken("unselected", "%s/%s: the result of attempt %d of generation %s, %s, was published, and the namespace selects %s",
			r.Namespace, r.TimerID, r.Attempt, r.Generation, r.Outcome, of)
	}
}

// wrote records the attempts of a namespace without results that were used without a call, or replaced by an expiry. In other namespaces
// the results report them.
func (o *oracle) wrote(f *finish) {
	if o.world.plan.resultsOf(f.before.Namespace) != store.ResultsOff {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.learnUncalled(f.attempt(), f.Record.Error, f.Kind == store.FinishDead && strings.HasPrefix(f.Record.Error, timer.ExpiredError))
}

// learnUncalled records an attempt without a call.
func (o *oracle) learnUncalled(a attempt, reason string, expired bool) {
	if expired && !o.expired[a] {
		o.expired[a] = true
		o.counts.Expired++
	}
	if uncalled(reason) {
		o.uncalled[a] = true
	}
}
