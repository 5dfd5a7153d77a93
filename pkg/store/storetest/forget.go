package storetest

import (
	"errors"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func forgetTests() []test {
	return []test{
		{"Forget/RemovesAFinishedTimerWithItsAttempts", forgetFinished},
		{"Forget/OtherGenerationsStay", forgetOneGeneration},
		{"Forget/LiveTimersStay", forgetLive},
		{"Forget/NothingFinishedIsErrNotFound", forgetNothing},
		{"Forget/EachItemByItself", forgetBatch},
		{"I14_ForgetRefusesADeathThatIsNotPublished", forgetMarked},
		{"Concurrency/OfManyForgetsOneRemoves", raceForget},
	}
}

func (w *world) forget(items ...store.Forget) []error {
	w.t.Helper()
	out, err := w.store.Forget(w.ctx, w.now, items)
	w.check(err, "forget")
	if len(out) != len(items) {
		w.t.Fatalf("forget of %d items gave %d answers", len(items), len(out))
	}
	return out
}

func forgetOf(w *world, t *timer.Timer) store.Forget {
	return store.Forget{Ref: w.ref(t.ID), Generation: t.Generation}
}

// publish removes all outbox entries.
func (w *world) publish() {
	w.t.Helper()
	for _, e := range w.outbox() {
		w.removeFromOutbox(e.ID)
	}
}

// listedIDs returns the ids with a status.
func (w *world) listedIDs(status timer.Status) []string {
	w.t.Helper()
	var ids []string
	for _, t := range w.list(store.ListQuery{Namespace: w.ns, Status: status, Limit: 100}) {
		ids = append(ids, t.ID)
	}
	return ids
}

func forgetFinished(w *world) {
	for kind, status := range map[store.FinishKind]timer.Status{
		store.FinishDone: timer.StatusDone, store.FinishDead: timer.StatusDead,
	} {
		ids := []string{string(status), string(status) + " too"}
		var all []timer.Timer
		for _, id := range ids {
			t := w.put(id, w.now)
			t = w.move(&t, store.FinishRetry)
			t = w.move(&t, store.FinishRetry)
			w.now += minute
			w.end(&t, kind)
			all = append(all, t)
		}
		w.publish()
		if n := len(w.history(w.ref(ids[0]))); n != 3 {
			w.t.Fatalf("%s: %d entries of history, want 3", status, n)
		}
		other := w.history(w.ref(ids[1]))
		w.check(w.forget(forgetOf(w, &all[0]))[0], "forget of a timer that is %s", status)
		_, err := w.get(w.ref(ids[0]))
		w.wantErr(err, store.ErrNotFound, "get of a forgotten timer")
		w.equal("its history", w.history(w.ref(ids[0])), []store.HistoryEntry(nil))
		w.equal("listed", w.listedIDs(status), ids[1:])
		w.equal("history of the other timer", w.history(w.ref(ids[1])), other)
		w.wantErr(w.forget(forgetOf(w, &all[0]))[0], store.ErrNotFound, "second forget")
	}
}

func forgetOneGeneration(w *world) {
	var lives []timer.Timer
	for range 3 {
		t := w.put("a", w.now)
		t = w.move(&t, store.FinishRetry)
		w.now += minute
		w.end(&t, store.FinishDead)
		lives = append(lives, t)
	}
	w.publish()
	want := slices.DeleteFunc(w.history(w.ref("a")), func(e store.HistoryEntry) bool { return e.Generation == lives[1].Generation })
	if len(want) != 4 {
		w.t.Fatalf("history of the first and last generation: %+v, want 4 entries", want)
	}
	w.check(w.forget(forgetOf(w, &lives[1]))[0], "forget of the second of three")
	w.equal("history", w.history(w.ref("a")), want)
	if t := w.mustGet(w.ref("a")); t.Generation != lives[2].Generation {
		w.t.Errorf("get shows generation %v, want the last one", t.Generation)
	}
	w.check(w.forget(forgetOf(w, &lives[2]))[0], "forget of the last one")
	if t := w.mustGet(w.ref("a")); t.Generation != lives[0].Generation {
		w.t.Errorf("get shows generation %v, want the first one", t.Generation)
	}
}

func forgetLive(w *world) {
	t := w.put("a", w.now)
	w.end(&t, store.FinishDead)
	w.publish()
	out := w.rearm(w.rearmOp("a", w.now+hour))
	w.check(out.Err, "rearm")
	w.check(w.forget(forgetOf(w, &t))[0], "forget of a timer that was re-armed")
	w.wantRow(w.ref("a"), &out.Timer)
	w.equal("history", w.history(w.ref("a")), []store.HistoryEntry(nil))

	for _, kind := range []store.FinishKind{store.FinishRetry, store.FinishRescheduled, store.FinishParked} {
		id := string(rune('b' + kind))
		t := w.put(id, w.now)
		now := w.move(&t, kind)
		history := w.history(w.ref(id))
		w.wantErr(w.forget(forgetOf(w, &t))[0], store.ErrNotFound, "forget of a live timer after outcome %d", kind)
		w.wantErr(w.forget(forgetOf(w, &now))[0], store.ErrNotFound, "forget of a live timer's generation after outcome %d", kind)
		w.wantRow(w.ref(id), &now)
		w.equal("history of a live timer", w.history(w.ref(id)), history)
	}
}

func forgetNothing(w *world) {
	w.wantErr(w.forget(store.Forget{Ref: w.ref("nobody"), Generation: 1})[0], store.ErrNotFound, "forget of nobody")
	t := w.put("done", w.now)
	f := w.end(&t, store.FinishDone)
	other := forgetOf(w, &t)
	other.Generation++
	w.wantErr(w.forget(other)[0], store.ErrNotFound, "forget of another generation")
	present := w.now
	w.now = f.Record.FinishedAt + millis(retention)
	w.wantErr(w.forget(forgetOf(w, &t))[0], store.ErrNotFound, "forget of an expired timer")
	w.now = present
	w.check(w.forget(forgetOf(w, &t))[0], "forget before the expiry")
}

func forgetBatch(w *world) {
	out, err := w.store.Forget(w.ctx, w.now, nil)
	w.check(err, "forget of no items")
	if len(out) != 0 {
		w.t.Errorf("forget of no items answers %v", out)
	}
	done, dead, kept, live := w.put("done", w.now), w.put("dead", w.now), w.put("kept", w.now), w.put("live", w.now)
	w.end(&done, store.FinishDone)
	w.end(&dead, store.FinishDead)
	w.publish()
	w.end(&kept, store.FinishDead)
	// The same generation occurs twice.
	out = w.forget(forgetOf(w, &dead), forgetOf(w, &live), forgetOf(w, &done), forgetOf(w, &kept), forgetOf(w, &done))
	for i, want := range []error{nil, store.ErrNotFound, nil, store.ErrConflict, store.ErrNotFound} {
		w.wantErr(out[i], want, "item %d", i)
	}
	w.wantRow(w.ref("live"), &live)
	w.equal("dead", w.listedIDs(timer.StatusDead), []string{"kept"})
	w.equal("done", w.listedIDs(timer.StatusDone), []string(nil))
}

func forgetMarked(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishRetry)
	w.end(&t, store.FinishDead)
	dead, history := w.mustGet(w.ref("a")), w.history(w.ref("a"))
	entries := w.wantOutbox("dead", 1)
	w.wantErr(w.forget(forgetOf(w, &t))[0], store.ErrConflict, "forget before the event is published")
	w.equal("outbox", w.wantOutbox("kept", 1), entries)
	w.equal("the dead timer", w.mustGet(w.ref("a")), dead)
	w.equal("history", w.history(w.ref("a")), history)
	w.removeFromOutbox(entries[0].ID)
	w.check(w.forget(forgetOf(w, &t))[0], "forget after the event is published")
	w.wantOutbox("forgotten", 0)
}

func raceForget(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishRetry)
	w.end(&t, store.FinishDone)
	answers := make([]error, racers)
	w.race(func(r int, s store.Store) {
		out, err := s.Forget(w.ctx, w.now, []store.Forget{forgetOf(w, &t)})
		if answers[r] = err; err == nil {
			answers[r] = out[0]
		}
	})
	removed := 0
	for r, err := range answers {
		if err == nil {
			removed++
		} else if !errors.Is(err, store.ErrNotFound) {
			w.t.Errorf("racer %d: %v", r, err)
		}
	}
	if removed != 1 {
		w.t.Errorf("%d racers removed the timer, want 1", removed)
	}
	w.equal("history", w.history(w.ref("a")), []store.HistoryEntry(nil))
}
