package storetest

import (
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func rearmTests() []test {
	return []test{
		{"Rearm/ADeadTimerLivesAgain", rearmDead},
		{"Rearm/AParkedTimerLivesAgain", rearmParked},
		{"Rearm/ALiveTimerIsErrConflict", rearmLive},
		{"Rearm/NothingDeadIsErrNotFound", rearmNothing},
		{"Rearm/OnlyTheAskedGeneration", rearmIfGeneration},
		{"Rearm/TheLastDeathCounts", rearmLastDeath},
		{"Rearm/EachItemByItself", rearmBatch},
		{"Rearm/ADoneTimerWhosePayloadIsKept", rearmDone},
		{"Rearm/ADoneTimerWithoutItsPayloadIsErrNotFound", rearmDoneWithout},
	}
}

func purgeTests() []test {
	return []test{
		{"Purge/RemovesWhatExpired", purgeExpired},
		{"Purge/AtMostTheLimit", purgeLimit},
		{"Purge/LeavesMarkedRows", purgeMarked},
		{"Purge/LeavesLiveTimers", purgeLive},
	}
}

func (w *world) rearm(item store.Rearm) store.Written {
	w.t.Helper()
	out, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{item})
	w.check(err, "rearm")
	if len(out) != 1 {
		w.t.Fatalf("rearm of 1 item gave %d answers", len(out))
	}
	return out[0]
}

func (w *world) rearmOp(id string, at timer.Millis) store.Rearm {
	return store.Rearm{Ref: w.ref(id), Revision: w.next(), ExecuteAt: at}
}

func rearmDead(w *world) {
	for _, c := range []struct {
		id      string
		at, due timer.Millis
	}{
		{"later", w.now + hour, w.now + hour},
		{"at once", w.now - hour, w.now + minute},
	} {
		t := w.used(c.id)
		w.end(&t, store.FinishDead)
		dead := w.mustGet(w.ref(c.id))
		history := w.history(w.ref(c.id))
		present := w.now
		w.now += minute
		item := w.rearmOp(c.id, c.at)
		out := w.rearm(item)
		w.check(out.Err, "rearm")
		want := reborn(dead, w.now, item.Revision)
		want.ExecuteAt, want.Local, want.DueAt, want.PlannedAt = c.at, nil, c.due, c.due
		w.equal("answer", out.Timer, want)
		if out.Prior != nil {
			w.t.Errorf("prior of a dead timer is %+v, want none: nothing lived", out.Prior)
		}
		w.wantRow(item.Ref, &want)
		w.equal("history", w.history(item.Ref), history)
		w.now = present
	}
	w.wantOutbox("both deaths are still to be published", 2)
}

func rearmParked(w *world) {
	t := w.used("a")
	parked := w.move(&t, store.FinishParked)
	w.now += minute
	item := w.rearmOp("a", w.now+hour)
	out := w.rearm(item)
	w.check(out.Err, "rearm")
	want := reborn(parked, w.now, item.Revision)
	want.ExecuteAt, want.Local, want.DueAt, want.PlannedAt = w.now+hour, nil, w.now+hour, w.now+hour
	w.equal("answer", out.Timer, want)
	w.wantPrior(out, &parked)
	w.wantRow(item.Ref, &want)
	w.wantOutbox("the parking is over", 0)
	if rows := w.due(w.claim(item.Ref.Shard)[0].Claim, store.MinKey(), want.DueAt).Rows; len(rows) != 1 {
		w.t.Errorf("Due shows %+v, want the timer that lives again", rows)
	}
}

// rearmDone: history keeps the payload of a done timer if the record says so, also if the timer has none, on each way to finish one.
func rearmDone(w *world) {
	for what, finish := range map[string]func(id string, f store.Finish){
		"alone": func(_ string, f store.Finish) { w.check(w.finish(f), "finish") },
		"with a follow-up": func(id string, f store.Finish) {
			t := w.mustGet(f.Ref)
			f.FollowUp = w.followUp(&t, "f of "+id)
			w.check(w.finish(f), "finish")
		},
		"after another outcome in the batch": func(_ string, f store.Finish) {
			t := w.mustGet(f.Ref)
			lease := w.finishOp(&t, store.FinishLeased)
			f.If = store.Guard{Generation: t.Generation}
			out, err := w.store.Finish(w.ctx, w.now, []store.Finish{lease, f})
			w.check(err, "finish")
			w.check(out[0], "lease")
			w.check(out[1], "finish")
		},
	} {
		for _, payload := range []string{`{"order":1}`, ""} {
			id := what + payload
			op := w.putOp(id, w.now)
			op.Spec.Payload = nil
			if payload != "" {
				op.Spec.Payload = []byte(payload)
			}
			t := w.mustWrite(op).Timer
			f := w.finishOp(&t, store.FinishDone)
			f.Record.KeepPayload = true
			finish(id, f)
			present := w.now
			w.now += minute
			item := w.rearmOp(id, w.now+hour)
			out := w.rearm(item)
			w.check(out.Err, "rearm of a timer that was done %s", what)
			if string(out.Timer.Payload) != payload || payload == "" && out.Timer.Payload != nil || out.Timer.Status != timer.StatusScheduled {
				w.t.Errorf("%s: the new generation is %s with payload %q, want %q", what, out.Timer.Status, out.Timer.Payload, payload)
			}
			w.wantRow(item.Ref, &out.Timer)
			w.now = present
		}
	}
}

// rearmDoneWithout: a timer never lives again without its payload. History forgets the payload with the outcome.
func rearmDoneWithout(w *world) {
	for _, id := range []string{"not kept", "expired"} {
		t := w.put(id, w.now)
		f := w.finishOp(&t, store.FinishDone)
		f.Record.KeepPayload = id == "expired"
		w.check(w.finish(f), "finish")
	}
	item := w.rearmOp("not kept", w.now)
	w.wantErr(w.rearm(item).Err, store.ErrNotFound, "rearm of a done timer whose payload is not kept")
	w.wantNoRow(item.Ref)
	w.now += millis(retention)
	w.wantErr(w.rearm(w.rearmOp("expired", w.now)).Err, store.ErrNotFound, "rearm of a done timer after its expiry")
}

func rearmLive(w *world) {
	scheduled, retrying := w.put("scheduled", w.now), w.used("retrying")
	// Also a timer that died and was created again.
	t := w.put("again", w.now)
	w.end(&t, store.FinishDead)
	again := w.put("again", w.now)
	for _, want := range []timer.Timer{scheduled, retrying, again} {
		for _, generation := range []timer.Generation{0, want.Generation, want.Generation + 1} {
			item := w.rearmOp(want.ID, w.now)
			item.IfGeneration = generation
			out := w.rearm(item)
			w.wantErr(out.Err, store.ErrConflict, "rearm of the live timer %q", want.ID)
			w.equal("the state found", out.Timer, want)
			w.wantRow(item.Ref, &want)
		}
	}
}

func rearmNothing(w *world) {
	w.wantErr(w.rearm(w.rearmOp("nobody", w.now)).Err, store.ErrNotFound, "rearm of nobody")

	t := w.put("done", w.now)
	w.end(&t, store.FinishDone)
	w.wantErr(w.rearm(w.rearmOp("done", w.now)).Err, store.ErrNotFound, "rearm of a done timer")

	t = w.put("failed", w.now)
	w.move(&t, store.FinishRetry)
	w.mustWrite(store.Delete{Ref: w.ref("failed")})
	w.wantErr(w.rearm(w.rearmOp("failed", w.now)).Err, store.ErrNotFound, "rearm of a deleted timer")

	t = w.put("expired", w.now)
	f := w.end(&t, store.FinishDead)
	w.now = f.Record.FinishedAt + millis(retention)
	w.wantErr(w.rearm(w.rearmOp("expired", w.now)).Err, store.ErrNotFound, "rearm of an expired timer")
	w.now--
	w.check(w.rearm(w.rearmOp("expired", w.now)).Err, "rearm just before the expiry")

	for _, id := range []string{"nobody", "done", "failed"} {
		w.wantNoRow(w.ref(id))
	}
}

func rearmIfGeneration(w *world) {
	t := w.used("dead")
	w.end(&t, store.FinishDead)
	dead := w.mustGet(w.ref("dead"))
	t = w.used("parked")
	parked := w.move(&t, store.FinishParked)
	for _, want := range []timer.Timer{dead, parked} {
		item := w.rearmOp(want.ID, w.now)
		item.IfGeneration = want.Generation + 1
		out := w.rearm(item)
		w.wantErr(out.Err, store.ErrConflict, "rearm of another generation of %q", want.ID)
		w.equal("the state found", out.Timer, want)
		w.equal("get", w.mustGet(item.Ref), want)
		item.IfGeneration = want.Generation
		out = w.rearm(item)
		w.check(out.Err, "rearm of the present generation of %q", want.ID)
		w.wantRow(item.Ref, &out.Timer)
		// The timer is live now.
		item.Revision = w.next()
		w.wantErr(w.rearm(item).Err, store.ErrConflict, "second rearm of %q", want.ID)
	}
}

func rearmLastDeath(w *world) {
	var last timer.Timer
	for i := range 3 {
		w.now += minute
		op := w.putOp("a", w.now)
		op.Spec.Payload = []byte{'1' + byte(i)}
		last = w.mustWrite(op).Timer
		w.now += minute
		w.end(&last, store.FinishDead)
	}
	out := w.rearm(w.rearmOp("a", w.now))
	w.check(out.Err, "rearm")
	if string(out.Timer.Payload) != "3" {
		w.t.Errorf("payload %q came back, want the last life's", out.Timer.Payload)
	}
	// A timer that is done after it was dead cannot be re-armed.
	w.now += minute
	w.end(&out.Timer, store.FinishDone)
	w.wantErr(w.rearm(w.rearmOp("a", w.now)).Err, store.ErrNotFound, "rearm of a timer that was done after it was dead")
}

func rearmBatch(w *world) {
	dead, parked := w.put("dead", w.now), w.put("parked", w.now)
	w.end(&dead, store.FinishDead)
	w.move(&parked, store.FinishParked)
	w.put("live", w.now)
	out, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{
		w.rearmOp("nobody", w.now), w.rearmOp("parked", w.now), w.rearmOp("live", w.now), w.rearmOp("dead", w.now),
	})
	w.check(err, "rearm")
	for i, want := range []error{store.ErrNotFound, nil, store.ErrConflict, nil} {
		w.wantErr(out[i].Err, want, "item %d", i)
	}
	w.wantRow(w.ref("parked"), &out[1].Timer)
	w.wantRow(w.ref("dead"), &out[3].Timer)
}

func (w *world) purge(limit int) int {
	w.t.Helper()
	n, err := w.store.Purge(w.ctx, w.now, limit)
	w.check(err, "purge")
	return n
}

// attempts writes n history entries that expire one millisecond after the other. The first expires at the returned
// time.
func (w *world) attempts(n int, kind store.FinishKind) timer.Millis {
	w.t.Helper()
	for i := range n {
		t := w.put(string(rune('a'+i)), w.now)
		f := w.finishOp(&t, kind)
		f.Record.FinishedAt = w.now + timer.Millis(i)
		w.check(w.finish(f), "finish")
	}
	return w.now + millis(retention)
}

func (w *world) countHistory(at timer.Millis, n int) int {
	w.t.Helper()
	present := w.now
	w.now = at
	sum := 0
	for i := range n {
		sum += len(w.history(w.ref(string(rune('a' + i)))))
	}
	w.now = present
	return sum
}

// purges reports whether the engine removes history itself.
func (w *world) purges() bool { return w.factory.Without[AnyPurge] == "" }

func purgeExpired(w *world) {
	w.need(AnyPurge, w.purges())
	present := w.now
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishRetry, store.FinishRescheduled} {
		w.now = present
		expiry := w.attempts(6, kind)
		w.now = expiry - 1
		if n := w.purge(100); n != 0 {
			w.t.Errorf("kind %d: %d rows purged before anything expired", kind, n)
		}
		w.now = expiry + 3
		if n := w.purge(100); n != 4 {
			w.t.Errorf("kind %d: %d rows purged, want the 4 that expired", kind, n)
		}
		// Removed entries are gone at every time, and the other entries are kept.
		if n := w.countHistory(present, 6); n != 2 {
			w.t.Errorf("kind %d: %d entries are left, want 2", kind, n)
		}
		if n := w.purge(100); n != 0 {
			w.t.Errorf("kind %d: %d rows purged again", kind, n)
		}
		w.now = expiry + hour
		w.purge(100)
	}
}

func purgeLimit(w *world) {
	w.need(AnyPurge, w.purges())
	const n = 10
	w.now = w.attempts(n, store.FinishDone) + hour
	left := n
	for left > 0 {
		want := min(4, left)
		if got := w.purge(4); got != want {
			w.t.Fatalf("%d rows purged, want %d of %d", got, want, left)
		}
		left -= want
		if got := w.countHistory(start, n); got != left {
			w.t.Fatalf("%d entries are left, want %d", got, left)
		}
	}
	if got := w.purge(4); got != 0 {
		w.t.Errorf("%d rows purged of nothing", got)
	}
}

func purgeMarked(w *world) {
	const n = 5
	w.now = w.attempts(n, store.FinishDead) + hour
	if got := w.purge(100); got != 0 {
		w.t.Fatalf("%d marked rows purged", got)
	}
	entries := w.wantOutbox("expired, but not published", n)
	w.removeFromOutbox(entries[1].ID, entries[3].ID)
	want := 0
	if w.purges() {
		want = 2
	}
	if got := w.purge(100); got != want {
		w.t.Errorf("%d rows purged, want %d of the 2 that were published", got, want)
	}
	w.equal("first", w.wantOutbox("left", n-2)[0], entries[0])
}

func purgeLive(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishRetry)
	parked := w.put("parked", w.now)
	parked = w.move(&parked, store.FinishParked)
	w.now += 1000 * hour
	want := 0
	if w.purges() {
		want = 1 // the failed attempt
	}
	if n := w.purge(100); n != want {
		w.t.Errorf("%d rows purged, want %d", n, want)
	}
	w.wantRow(w.ref("a"), &t)
	w.wantRow(w.ref("parked"), &parked)
}
