package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func currentTests() []test {
	return []test{
		{"Current/TellsTheRowWhateverWasAsked", currentTells},
		{"Current/FinishedTimersAreNotThere", currentFinished},
		{"Current/TheDueTimeIsOnlyAHint", currentStaleHint},
		{"I13_CountStartGrowsStartsAndNothingElse", countStart},
		{"I13_CountStartNeedsTheRevision", countStartMiss},
		{"I13_AResultResetsTheStarts", resultResetsStarts},
		{"I13_ALeaseCountsAStartWhereAsked", leaseCountsStart},
		{"I13_NoPollOrSweepSeesAParkedRow", dueParked},
	}
}

func (w *world) current(checks ...store.Check) []store.Checked {
	w.t.Helper()
	out, err := w.store.Current(w.ctx, checks)
	w.check(err, "current")
	if len(out) != len(checks) {
		w.t.Fatalf("%d answers to %d checks", len(out), len(checks))
	}
	return out
}

func currentTells(w *world) {
	a := w.used("a")
	parked := w.used("parked")
	parked = w.move(&parked, store.FinishParked)
	for what, c := range map[string]struct {
		check store.Check
		want  *timer.Timer
	}{
		"the revision":     {store.Check{Ref: w.ref("a"), DueAt: a.DueAt, Revision: a.Revision}, &a},
		"another revision": {store.Check{Ref: w.ref("a"), DueAt: a.DueAt, Revision: a.Revision + 1}, &a},
		"parked":           {store.Check{Ref: w.ref("parked"), DueAt: parked.DueAt, Revision: parked.Revision}, &parked},
		"nobody":           {store.Check{Ref: w.ref("nobody"), DueAt: a.DueAt, Revision: a.Revision}, nil},
	} {
		got := w.current(c.check)[0]
		if got.Found != (c.want != nil) || got.Counted {
			w.t.Errorf("%s: found %t, counted %t", what, got.Found, got.Counted)
		}
		if c.want != nil {
			w.equal(what, got.Timer, *c.want)
			if got.Matches(c.check.Revision) != (what != "another revision") {
				w.t.Errorf("%s: Matches is %t", what, got.Matches(c.check.Revision))
			}
		}
	}
}

func currentFinished(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		t := w.put(fmt.Sprint(kind), w.now)
		f := w.end(&t, kind)
		check := store.Check{Ref: f.Ref, DueAt: t.DueAt, Revision: t.Revision, CountStart: true}
		if got := w.current(check)[0]; got.Found || got.Counted {
			w.t.Errorf("kind %d: a finished timer is found: %+v", kind, got)
		}
	}
}

func currentStaleHint(w *world) {
	t := w.put("a", w.now+minute)
	for i, hint := range []timer.Millis{t.DueAt + 1, t.DueAt - 1, 0, timer.MaxMillis} {
		check := store.Check{Ref: w.ref("a"), DueAt: hint, Revision: t.Revision, CountStart: true}
		got := w.current(check)[0]
		if !got.Matches(t.Revision) || !got.Counted || got.Timer.Starts != i {
			w.t.Errorf("looked for at %s: %+v", hint, got)
		}
	}
}

func countStart(w *world) {
	t := w.used("a") // two starts
	other := w.put("b", w.now+minute)
	w.now += minute
	for range 3 {
		checks := []store.Check{
			{Ref: w.ref("b"), DueAt: other.DueAt, Revision: other.Revision}, // without a count
			{Ref: w.ref("a"), DueAt: t.DueAt, Revision: t.Revision, CountStart: true},
		}
		got := w.current(checks...)
		if got[0].Counted || !got[1].Counted {
			w.t.Errorf("counted %t, %t; want only the second", got[0].Counted, got[1].Counted)
		}
		w.equal("the state before the count", got[1].Timer, t)
		t.Starts++
		w.wantRow(w.ref("a"), &t)
		w.wantRow(w.ref("b"), &other)
	}
	// The row is unchanged, for the scheduler too.
	rows := w.due(w.claim(w.ref("a").Shard)[0].Claim, store.MinKey(), timer.MaxMillis).Rows
	for _, r := range rows {
		if r.Ref == w.ref("a") && (r.Revision != t.Revision || r.DueAt != t.DueAt || r.UpdatedAt != t.UpdatedAt) {
			w.t.Errorf("due is %+v after counted starts", r)
		}
	}
}

func countStartMiss(w *world) {
	t := w.used("a")
	for _, wrong := range []timer.Revision{t.Revision + 1, timer.Revision(t.Generation), 0} {
		got := w.current(store.Check{Ref: w.ref("a"), DueAt: t.DueAt, Revision: wrong, CountStart: true})[0]
		if got.Counted || !got.Found {
			w.t.Errorf("asked for revision %s: found %t, counted %t", wrong, got.Found, got.Counted)
		}
		w.wantRow(w.ref("a"), &t)
	}
}

func resultResetsStarts(w *world) {
	for _, kind := range []store.FinishKind{store.FinishRetry, store.FinishRescheduled} {
		id := fmt.Sprint(kind)
		t := w.used(id)
		if got := w.move(&t, kind); got.Starts != 0 {
			w.t.Errorf("kind %d leaves %d starts", kind, got.Starts)
		}
	}
	for _, kind := range []store.FinishKind{store.FinishPostponed, store.FinishLeased, store.FinishParked} {
		id := fmt.Sprint(kind)
		t := w.used(id)
		if got := w.move(&t, kind); got.Starts != t.Starts {
			w.t.Errorf("kind %d is no result, and leaves %d starts of %d", kind, got.Starts, t.Starts)
		}
	}
}

func leaseCountsStart(w *world) {
	t := w.put("a", w.now)
	for _, count := range []bool{true, false, true} {
		f := w.finishOp(&t, store.FinishLeased)
		f.CountStart = count
		w.check(w.finish(f), "lease")
		want := t.Starts
		if count {
			want++
		}
		t, _ = w.row(f.Ref)
		if t.Starts != want {
			w.t.Errorf("a lease that counts (%t) leaves %d starts, want %d", count, t.Starts, want)
		}
	}
}
