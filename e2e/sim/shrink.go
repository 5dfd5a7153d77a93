package sim

import (
	"slices"
	"testing"
)

// Shrink drops operations and faults from a plan that breaks a promise, as long as the smaller plan still
// breaks the same one, and returns the smallest it found. It plays at most limit lives.
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

// drop removes what it can: halves first, then single items.
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
