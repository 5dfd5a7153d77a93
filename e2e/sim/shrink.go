package sim

import (
	"slices"
	"testing"
)

// Shrink removes operations and faults from a plan that violates a rule, as long as the smaller plan violates the same
// rule, and returns the smallest plan found. It runs at most limit lives.
func Shrink(t *testing.T, plan Plan, options Options, limit int) Plan {
	t.Helper()
	first := Run(t, &plan, options)
	if len(first.Violations) == 0 {
		return plan
	}
	rule := first.Violations[0].Rule
	lives := 0
	fails := func(p Plan) bool {
		lives++
		r := Run(t, &p, options)
		return slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Rule == rule })
	}
	for smaller := true; smaller && lives < limit; {
		faults, fewerFaults := drop(plan.Faults, func(kept []Fault) bool {
			p := plan
			p.Faults = kept
			return lives < limit && fails(p)
		})
		plan.Faults = faults
		ops, fewerOps := drop(plan.Ops, func(kept []Op) bool {
			p := plan
			p.Ops = kept
			return lives < limit && fails(p)
		})
		plan.Ops, smaller = ops, fewerFaults || fewerOps
	}
	return plan
}

// drop removes items while fails is true: halves first, then single items.
func drop[T any](items []T, fails func([]T) bool) (kept []T, smaller bool) {
	for size := max(1, len(items)/2); size >= 1; size /= 2 {
		for at := 0; at < len(items); {
			without := slices.Concat(items[:at], items[min(at+size, len(items)):])
			if fails(without) {
				items, smaller = without, true
				continue
			}
			at += size
		}
	}
	return items, smaller
}
