package storetest

import (
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func getTests() []test {
	return []test{
		{"Get/ALiveTimerIsWhole", getLive},
		{"Get/AnUnknownTimerIsErrNotFound", getUnknown},
		{"Get/ADoneTimerUntilItExpires", func(w *world) { getFinished(w, store.FinishDone, timer.StatusDone) }},
		{"Get/ADeadTimerIsWholeUntilItExpires", func(w *world) { getFinished(w, store.FinishDead, timer.StatusDead) }},
		{"Get/TheLastFinalOutcomeCounts", getLastOutcome},
		{"Get/TheLastLifeCountsWhateverTheWritersClocks", getLastLife},
		{"Get/ALiveTimerHidesItsHistory", getHidesHistory},
		{"Get/FailedAndRescheduledAttemptsAreNotFinished", getAfterDelete},
	}
}

func getLive(w *world) {
	t := w.used("a")
	w.equal("get", w.mustGet(w.ref("a")), t)
	t = w.move(&t, store.FinishParked)
	w.equal("get of a parked timer", w.mustGet(w.ref("a")), t)
}

func getUnknown(w *world) {
	got, err := w.get(w.ref("nobody"))
	w.wantErr(err, store.ErrNotFound, "get")
	w.equal("answer", got, timer.Timer{})
	// A row of another timer in the same shard does not match.
	t := w.put("a", w.now)
	_, err = w.get(store.Ref{Shard: w.ref("a").Shard, UUID: w.ref("b").UUID})
	w.wantErr(err, store.ErrNotFound, "get")
	w.end(&t, store.FinishDone)
	_, err = w.get(store.Ref{Shard: w.ref("a").Shard, UUID: w.ref("b").UUID})
	w.wantErr(err, store.ErrNotFound, "get")
}

// ended returns the timer in history after a final outcome of a row.
func ended(row timer.Timer, now timer.Millis, status timer.Status, r *store.Record) timer.Timer {
	row.Status = status
	row.PlannedAt = row.DueAt
	row.Attempts = r.Attempt
	row.Starts = 0
	row.UpdatedAt = now
	row.ExecutedAt = r.StartedAt
	row.LastStatus = r.StatusCode
	row.LastError = r.Error
	return row
}

func getFinished(w *world, kind store.FinishKind, status timer.Status) {
	row := w.used("a")
	w.now += minute
	f := w.finishOp(&row, kind)
	if kind == store.FinishDone {
		f.Record.Error, f.Record.StatusCode = "", 204
	}
	w.check(w.finish(f), "finish")
	want := ended(row, w.now, status, &f.Record)

	for _, later := range []timer.Millis{0, minute, millis(retention) - second - 1} {
		w.now += later
		if expiry := f.Record.FinishedAt + millis(retention); w.now >= expiry {
			w.now = expiry - 1
		}
		got := w.mustGet(f.Ref)
		w.equal("get", comparableTimer(got), comparableTimer(want))
		w.wantNoRow(f.Ref)
	}
	w.now++
	_, err := w.get(f.Ref)
	w.wantErr(err, store.ErrNotFound, "get at the expiry")
}

func getLastOutcome(w *world) {
	ref := w.ref("a")
	for i, kind := range []store.FinishKind{
		store.FinishDead, store.FinishDone, store.FinishDone, store.FinishDead, store.FinishDone,
	} {
		w.now += minute
		t := w.put("a", w.now)
		// The attempt that ends the generation is its last one.
		t = w.move(&t, store.FinishRetry)
		w.now += minute
		w.end(&t, kind)
		got := w.mustGet(ref)
		if got.Generation != t.Generation || !got.Status.Finished() || got.Attempts != 2 {
			w.t.Fatalf("life %d: get shows %s of generation %s, attempt %d; want the end of generation %s",
				i, got.Status, got.Generation, got.Attempts, t.Generation)
		}
		if want := map[store.FinishKind]timer.Status{
			store.FinishDead: timer.StatusDead, store.FinishDone: timer.StatusDone,
		}[kind]; got.Status != want {
			w.t.Fatalf("life %d ended %s, want %s", i, got.Status, want)
		}
	}
}

// getLastLife: the clock of the dispatcher that ends a timer may be behind that of the previous final outcome's
// dispatcher.
func getLastLife(w *world) {
	ref := w.ref("a")
	// How far finishedAt of each final outcome is before that of the previous one.
	for i, behind := range []timer.Millis{0, 250, 100, 0, 1, 999} {
		t := w.put("a", w.now)
		if i == 4 { // also if the row is not at the due_at of the outcome
			t = w.move(&t, store.FinishPostponed)
			t.DueAt++
		}
		var last timer.Millis
		if all := w.history(ref); len(all) > 0 {
			last = all[0].FinishedAt
		}
		kind := []store.FinishKind{store.FinishDone, store.FinishDead}[i%2]
		f := w.finishOp(&t, kind)
		f.Record.FinishedAt = max(last, w.now) - behind
		w.check(w.finish(f), "finish")
		if got := w.mustGet(ref); got.Generation != t.Generation {
			w.t.Fatalf("life %d ended %d ms before the one before it: get shows generation %s, want %s",
				i, behind, got.Generation, t.Generation)
		}
		all := w.history(ref)
		want := f.Record.FinishedAt
		if i > 0 {
			want = max(want, last+1)
		}
		if len(all) != i+1 || all[0].Generation != t.Generation || all[0].FinishedAt != want {
			w.t.Fatalf("life %d: history begins with %+v, want its end at %s", i, all[0], want)
		}
	}
	// Expired final outcomes do not count.
	w.now += millis(retention) + minute
	t := w.put("a", w.now)
	f := w.end(&t, store.FinishDone)
	w.equal("history", w.history(ref), []store.HistoryEntry{entry(&t, &f, store.OutcomeDone)})
}

func getHidesHistory(w *world) {
	t := w.put("a", w.now)
	w.end(&t, store.FinishDead)
	dead := w.mustGet(w.ref("a"))
	t = w.put("a", w.now+hour)
	w.equal("get", w.mustGet(w.ref("a")), t)
	w.mustWrite(store.Delete{Ref: w.ref("a")})
	w.equal("get after the delete", w.mustGet(w.ref("a")), dead)
}

func getAfterDelete(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishRetry)
	w.move(&t, store.FinishRescheduled)
	w.mustWrite(store.Delete{Ref: w.ref("a")})
	_, err := w.get(w.ref("a"))
	w.wantErr(err, store.ErrNotFound, "get of a timer that was deleted after attempts")
}
