package storetest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func historyTests() []test {
	return []test{
		{"History/OneEntryForEachAttempt", historyOfALife},
		{"History/NewestFirst", historyOrder},
		{"History/AtMostTheLimit", historyLimit},
		{"History/ExpiredEntriesAreNotShown", historyExpiry},
		{"History/IsOfOneTimer", historyOfOne},
		{"History/AFinalOutcomeReplacesAFailedOne", historyFinalReplacesFailed},
		{"History/AFailedOutcomeNeverReplacesAFinalOne", historyFailedLeavesFinal},
		{"History/ErrorsAreCut", historyCutsErrors},
	}
}

// entry returns the history entry of an outcome.
func entry(t *timer.Timer, f *store.Finish, outcome store.Outcome) store.HistoryEntry {
	e := store.HistoryEntry{
		Ref: f.Ref, Generation: t.Generation, Attempt: f.Record.Attempt, Outcome: outcome,
		ExecuteAt: t.ExecuteAt, NextAt: f.NextAt,
		StartedAt: f.Record.StartedAt, FinishedAt: f.Record.FinishedAt,
		StatusCode: f.Record.StatusCode, Error: f.Record.Error, CorrelationID: t.CorrelationID,
	}
	if outcome == store.OutcomeDone || outcome == store.OutcomeDead {
		e.NextAt = 0
	}
	return e
}

func historyOfALife(w *world) {
	ref := w.ref("a")
	if got := w.history(ref); len(got) != 0 {
		w.t.Fatalf("history of nothing: %+v", got)
	}
	t := w.put("a", w.now)
	var want []store.HistoryEntry // oldest first
	for _, step := range []struct {
		kind    store.FinishKind
		outcome store.Outcome
	}{
		{store.FinishRetry, store.OutcomeFailed},
		{store.FinishPostponed, ""},
		{store.FinishLeased, ""},
		{store.FinishRetry, store.OutcomeFailed},
		{store.FinishRescheduled, store.OutcomeRescheduled},
		{store.FinishParked, ""},
		{store.FinishDone, store.OutcomeDone},
	} {
		w.now += minute
		f := w.finishOp(&t, step.kind)
		w.check(w.finish(f), "finish")
		if step.outcome != "" {
			want = append([]store.HistoryEntry{entry(&t, &f, step.outcome)}, want...)
		}
		w.equal(fmt.Sprintf("history after kind %d", step.kind), w.history(ref), want)
		t, _ = w.row(ref)
	}
	// A timer is created again with the id. The old history is kept.
	t = w.put("a", w.now)
	w.now += minute
	f := w.finishOp(&t, store.FinishDead)
	w.check(w.finish(f), "finish")
	want = append([]store.HistoryEntry{entry(&t, &f, store.OutcomeDead)}, want...)
	w.equal("history of two lives", w.history(ref), want)
}

func historyOrder(w *world) {
	t := w.put("a", w.now)
	// Attempts of one timer may end in any order, and several in the same millisecond.
	for _, at := range []struct {
		finished timer.Millis
		attempt  timer.Attempt
	}{{5, 3}, {9, 1}, {5, 1}, {7, 4}, {5, 2}, {-5, 5}} {
		f := w.finishOp(&t, store.FinishRetry)
		f.Record.FinishedAt = w.now + at.finished
		f.Record.Attempt = at.attempt
		if at.finished == 9 { // a new generation, so that attempt 1 occurs twice
			f.Kind = store.FinishRescheduled
		}
		w.check(w.finish(f), "finish")
		t, _ = w.row(f.Ref)
	}
	var got []string
	for _, e := range w.history(w.ref("a")) {
		got = append(got, fmt.Sprintf("%d/%d", e.FinishedAt-w.now, e.Attempt))
	}
	if want := "9/1 7/4 5/3 5/2 5/1 -5/5"; strings.Join(got, " ") != want {
		w.t.Errorf("finished/attempt came as %v, want %s", got, want)
	}
}

func historyLimit(w *world) {
	t := w.put("a", w.now)
	for range 5 {
		w.now += minute
		t = w.move(&t, store.FinishRetry)
	}
	all := w.history(w.ref("a"))
	for limit := 1; limit <= 6; limit++ {
		got, err := w.store.History(w.ctx, w.now, w.ref("a"), limit)
		w.check(err, "history")
		w.equal("history", got, all[:min(limit, len(all))])
	}
}

func historyExpiry(w *world) {
	t := w.put("a", w.now)
	first := w.end(&t, store.FinishRetry)
	t, _ = w.row(w.ref("a"))
	w.now += minute
	w.end(&t, store.FinishRetry)
	w.now = first.Record.FinishedAt + millis(retention) - 1
	if got := w.history(w.ref("a")); len(got) != 2 {
		w.t.Errorf("just before the first expires there are %d entries, want 2", len(got))
	}
	w.now++
	if got := w.history(w.ref("a")); len(got) != 1 || got[0].Attempt != 2 {
		w.t.Errorf("when the first expires there is %+v, want the second", got)
	}
	got, err := w.store.History(w.ctx, w.now, w.ref("a"), 1)
	w.check(err, "history")
	if len(got) != 1 {
		w.t.Errorf("an expired entry counts towards the limit: %+v", got)
	}
}

func historyOfOne(w *world) {
	for i := range 20 {
		t := w.put(fmt.Sprint(i), w.now)
		w.end(&t, store.FinishDone)
	}
	for i := range 20 {
		ref := w.ref(fmt.Sprint(i))
		if got := w.history(ref); len(got) != 1 || got[0].Ref != ref {
			w.t.Errorf("history of timer %d: %+v", i, got)
		}
	}
}

func historyFinalReplacesFailed(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishRescheduled, store.FinishDead} {
		id := fmt.Sprint(kind)
		t := w.put(id, w.now)
		failed := w.end(&t, store.FinishRetry)
		// The same attempt ran twice. The later outcome has a guard by generation.
		final := w.finishOp(&t, kind)
		final.If = store.Guard{Generation: t.Generation}
		final.Record.FinishedAt += 10
		final.Record.StatusCode, final.Record.Error = 200, ""
		final.Record.Attempt = failed.Record.Attempt
		w.check(w.finish(final), "finish")
		got := w.history(final.Ref)
		if len(got) != 1 {
			w.t.Fatalf("kind %d: one attempt has %d entries: %+v", kind, len(got), got)
		}
		outcome := map[store.FinishKind]store.Outcome{
			store.FinishDone: store.OutcomeDone, store.FinishRescheduled: store.OutcomeRescheduled,
			store.FinishDead: store.OutcomeDead,
		}[kind]
		w.equal("entry", got[0], entry(&t, &final, outcome))
	}
}

func historyFailedLeavesFinal(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishRescheduled, store.FinishDead} {
		id := fmt.Sprint(kind)
		op := w.putOp(id, w.now)
		t := w.mustWrite(op).Timer
		w.end(&t, kind)
		before := w.history(op.Ref)
		// A store that lost writes in a failover can have the same generation again.
		t = w.mustWrite(op).Timer
		failed := w.finishOp(&t, store.FinishRetry)
		failed.Record.FinishedAt += 10
		w.check(w.finish(failed), "finish")
		w.equal("history", w.history(op.Ref), before)
		if row, _ := w.row(op.Ref); row.Status != timer.StatusRetrying {
			w.t.Errorf("kind %d: the row is %s, want it retrying all the same", kind, row.Status)
		}
	}
}

func historyCutsErrors(w *world) {
	for _, text := range []string{
		strings.Repeat("x", store.MaxError-1),
		strings.Repeat("x", store.MaxError),
		strings.Repeat("x", store.MaxError+1),
		strings.Repeat("x", store.MaxError-1) + "é", // the cut is within a character
		strings.Repeat("界", store.MaxError),
		"quotes ' \" \\ and\nlines\t%s",
	} {
		for _, kind := range []store.FinishKind{store.FinishRetry, store.FinishParked, store.FinishDead} {
			t := w.put("a", w.now)
			f := w.finishOp(&t, kind)
			f.Record.Error = text
			w.check(w.finish(f), "finish")
			want := store.CutError(text)
			got := w.mustGet(f.Ref).LastError
			if kind != store.FinishParked {
				if e := w.history(f.Ref)[0].Error; e != want {
					w.t.Errorf("kind %d: history keeps %q of an error of %d bytes, want %q", kind, e, len(text), want)
				}
			}
			if got != want || len(got) > store.MaxError || !utf8.ValidString(got) {
				w.t.Errorf("kind %d: the timer keeps %q of an error of %d bytes, want %q", kind, got, len(text), want)
			}
			w.now += minute
		}
	}
}
