package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func finishTests() []test {
	tests := []test{
		{"I2_ARowThatMovedOnIsNotWritten", finishMovedOn},
		{"I2_TheGenerationOutlivesTheRevision", finishByGeneration},
		{"I2_OfTwoInOneBatchTheFirstWins", finishTwiceInABatch},
		{"I2_FinishRemovesOnlyItsRow", finishOnlyItsRow},
		{"Finish/TheDueTimeIsOnlyAHint", finishStaleHint},
		{"Finish/ALargeBatch", finishLargeBatch},
		{"Finish/ADeadTimerKeepsAllOfItself", finishDeadWhole},
		{"Finish/APostponementGivesAStartBackWhereAsked", finishReturnsStart},
		{"Finish/LeasesAndPostponementsKeepThePlannedTime", finishKeepsPlanned},
		{"Finish/PostponementsSetTheTurnOfTheFlow", finishSetsTurn},
	}
	for _, kind := range finishKinds() {
		tests = append(tests,
			test{fmt.Sprintf("Finish/%s/WhereTheGuardHolds", kind.name), func(w *world) { finishHit(w, kind) }},
			test{fmt.Sprintf("I2_%sWritesNothingWhereTheGuardFails", kind.name), func(w *world) { finishMiss(w, kind) }},
		)
	}
	return tests
}

// finishKind is the expected effect of a kind on a row. after returns the row, or the finished timer.
type finishKind struct {
	name    string
	kind    store.FinishKind
	outcome store.Outcome // in history; "" if there is none
	gone    bool          // the row is deleted
	marks   bool
	after   func(t timer.Timer, now timer.Millis, f *store.Finish) timer.Timer
}

func finishKinds() []finishKind {
	result := func(t timer.Timer, f *store.Finish) timer.Timer {
		t.Attempts, t.Starts = f.Record.Attempt, 0
		t.ExecutedAt, t.LastStatus, t.LastError = f.Record.StartedAt, f.Record.StatusCode, f.Record.Error
		return t
	}
	moved := func(t timer.Timer, now timer.Millis, f *store.Finish) timer.Timer {
		t.Revision, t.UpdatedAt = f.Next, now
		t.DueAt = max(now, t.ExecuteAt, f.NextAt)
		return t
	}
	planned := func(t timer.Timer) timer.Timer {
		t.PlannedAt = t.DueAt
		return t
	}
	return []finishKind{
		{"Done", store.FinishDone, store.OutcomeDone, true, false, func(t timer.Timer, now timer.Millis, f *store.Finish) timer.Timer {
			return ended(t, now, timer.StatusDone, &f.Record)
		}},
		{"Dead", store.FinishDead, store.OutcomeDead, true, true, func(t timer.Timer, now timer.Millis, f *store.Finish) timer.Timer {
			return ended(t, now, timer.StatusDead, &f.Record)
		}},
		{"Rescheduled", store.FinishRescheduled, store.OutcomeRescheduled, false, false, func(t timer.Timer, now timer.Millis, f *store.Finish) timer.Timer {
			t = reborn(result(t, f), now, f.Next)
			t.ExecuteAt, t.Local, t.DueAt = f.NextAt, nil, max(now, f.NextAt)
			return planned(t)
		}},
		{"Retry", store.FinishRetry, store.OutcomeFailed, false, false, func(t timer.Timer, now timer.Millis, f *store.Finish) timer.Timer {
			t = moved(result(t, f), now, f)
			t.Status = timer.StatusRetrying
			return planned(t)
		}},
		{"Leased", store.FinishLeased, "", false, false, moved},
		{"Postponed", store.FinishPostponed, "", false, false, moved},
		{"Parked", store.FinishParked, "", false, true, func(t timer.Timer, now timer.Millis, f *store.Finish) timer.Timer {
			t.Status, t.Revision, t.UpdatedAt, t.LastError = timer.StatusParked, f.Next, now, f.Record.Error
			return t
		}},
	}
}

// rowStates are the states that a row can have when an outcome arrives. The parked row has an outbox entry.
var rowStates = []string{"scheduled", "retrying", "postponed", "leased", "parked"}

func (w *world) inState(id, state string) timer.Timer {
	w.t.Helper()
	switch state {
	case "scheduled":
		return w.put(id, w.now+minute)
	case "retrying":
		return w.used(id)
	case "postponed":
		t := w.used(id)
		return w.move(&t, store.FinishPostponed)
	case "leased":
		t := w.put(id, w.now)
		return w.move(&t, store.FinishLeased)
	default:
		t := w.used(id)
		return w.move(&t, store.FinishParked)
	}
}

func finishHit(w *world, k finishKind) {
	for _, state := range rowStates {
		if state == "parked" && (k.kind == store.FinishLeased || k.kind == store.FinishPostponed) {
			continue // a dispatcher does not lease or postpone a row that it has parked
		}
		for _, by := range []string{"revision", "generation"} {
			id := state + " by " + by
			row := w.inState(id, state)
			marks := len(w.outbox())
			if state == "parked" {
				marks--
			}
			w.now += 5 * second
			f := w.finishOp(&row, k.kind)
			if by == "generation" {
				f.If = store.Guard{Generation: row.Generation}
			}
			before := w.history(f.Ref)
			if err := w.finish(f); err != nil {
				w.t.Errorf("%s: %v", id, err)
				continue
			}
			want := k.after(row, w.now, &f)
			if k.gone {
				w.wantNoRow(f.Ref)
			} else {
				w.wantRow(f.Ref, &want)
			}
			w.equal(id+": get", comparableTimer(w.mustGet(f.Ref)), comparableTimer(want))
			if k.outcome != "" {
				before = append([]store.HistoryEntry{entry(&row, &f, k.outcome)}, before...)
			}
			w.equal(id+": history", w.history(f.Ref), before)
			if k.marks {
				marks++
			}
			w.wantOutbox(id, marks)
		}
	}
}

func finishMiss(w *world, k finishKind) {
	for _, state := range rowStates {
		row := w.inState(state, state)
		entries, history := w.outbox(), w.history(w.ref(state))
		for what, guard := range map[string]store.Guard{
			"another revision":                {Revision: row.Revision + 1},
			"another generation":              {Generation: row.Generation + 1},
			"the generation as a revision":    {Revision: row.Revision ^ 1<<40},
			"the generation of another timer": {Generation: timer.Generation(w.next())},
		} {
			w.now += second
			f := w.finishOp(&row, k.kind)
			f.If = guard
			w.wantErr(w.finish(f), store.ErrConflict, "%s row, %s", state, what)
			w.wantRow(w.ref(state), &row)
			w.equal("history", w.history(w.ref(state)), history)
			w.equal("entries", w.outbox(), entries)
		}
	}
	nobody := w.finishOp(&timer.Timer{ID: "nobody", UUID: w.ref("nobody").UUID, Revision: 1}, k.kind)
	for _, guard := range []store.Guard{{Revision: 1}, {Generation: 1}} {
		nobody.If = guard
		w.wantErr(w.finish(nobody), store.ErrNotFound, "finish of nobody by %+v", guard)
		w.wantNoRow(nobody.Ref)
		w.equal("history of nobody", w.history(nobody.Ref), []store.HistoryEntry(nil))
		_, err := w.get(nobody.Ref)
		w.wantErr(err, store.ErrNotFound, "get of nobody")
	}
}

// finishMovedOn: the outcome of a slow dispatcher arrives after another write.
func finishMovedOn(w *world) {
	for what, overtake := range map[string]func(t *timer.Timer){
		"replaced":    func(t *timer.Timer) { w.put(t.ID, w.now+hour) },
		"updated":     func(t *timer.Timer) { w.update(w.ref(t.ID), timer.Patch{}) },
		"rescheduled": func(t *timer.Timer) { w.move(t, store.FinishRescheduled) },
		"leased":      func(t *timer.Timer) { w.move(t, store.FinishLeased) },
		"postponed":   func(t *timer.Timer) { w.move(t, store.FinishPostponed) },
		"retried":     func(t *timer.Timer) { w.move(t, store.FinishRetry) },
		"parked":      func(t *timer.Timer) { w.move(t, store.FinishParked) },
	} {
		seen := w.put(what, w.now)
		overtake(&seen)
		now, _ := w.row(w.ref(what))
		history := w.history(w.ref(what))
		for _, kind := range finishKinds() {
			late := w.finishOp(&seen, kind.kind)
			w.wantErr(w.finish(late), store.ErrConflict, "%s after the timer was %s", kind.name, what)
			if now.Generation != seen.Generation {
				late.If = store.Guard{Generation: seen.Generation}
				w.wantErr(w.finish(late), store.ErrConflict, "%s by generation after the timer was %s", kind.name, what)
			}
		}
		w.wantRow(w.ref(what), &now)
		w.equal("history", w.history(w.ref(what)), history)
	}
	gone := w.put("gone", w.now)
	w.mustWrite(store.Delete{Ref: w.ref("gone")})
	for _, kind := range finishKinds() {
		w.wantErr(w.finish(w.finishOp(&gone, kind.kind)), store.ErrNotFound, "%s after a delete", kind.name)
	}
	_, err := w.get(w.ref("gone"))
	w.wantErr(err, store.ErrNotFound, "get")
}

func finishByGeneration(w *world) {
	t := w.put("a", w.now)
	generation := t.Generation
	for _, kind := range []store.FinishKind{store.FinishLeased, store.FinishRetry, store.FinishPostponed, store.FinishParked} {
		t = w.move(&t, kind)
		if t.Generation != generation {
			w.t.Fatalf("kind %d began generation %s", kind, t.Generation)
		}
	}
	f := w.finishOp(&t, store.FinishDone)
	f.If = store.Guard{Generation: generation}
	w.check(w.finish(f), "a success that knows the generation only")
	w.wantNoRow(f.Ref)
	w.wantOutbox("the parked row is gone", 0)
}

func finishTwiceInABatch(w *world) {
	t := w.put("a", w.now)
	first, second := w.finishOp(&t, store.FinishRetry), w.finishOp(&t, store.FinishDone)
	third := w.finishOp(&t, store.FinishDone)
	third.If = store.Guard{Revision: first.Next} // it has the revision that the first wrote
	third.Record.Attempt = 2
	errs, err := w.store.Finish(w.ctx, w.now, []store.Finish{first, second, third, second})
	w.check(err, "finish")
	for i, want := range []error{nil, store.ErrConflict, nil, store.ErrNotFound} {
		w.wantErr(errs[i], want, "item %d", i)
	}
	got := w.history(first.Ref)
	if len(got) != 2 {
		w.t.Errorf("history has %d entries, want the failed and the done attempt: %+v", len(got), got)
	}
}

// finishOnlyItsRow: rows are deleted by key, never by a range of due times.
func finishOnlyItsRow(w *world) {
	id := w.ns.Shards.Base
	order := w.unsorted(id)
	rows := w.due(w.claim(id)[0].Claim, store.MinKey(), w.now+hour).Rows
	w.now += 2 * hour
	late := w.putAt(place(id, 0x42, 0), w.now-3*hour) // written after the batch was read
	var items []store.Finish
	for _, i := range []int{3, 9, 13, 1} {
		items = append(items, store.Finish{
			Ref: rows[i].Ref, DueAt: rows[i].DueAt, Kind: store.FinishDone, If: store.Guard{Revision: rows[i].Revision},
			Record: store.Record{Attempt: 1, StartedAt: w.now, FinishedAt: w.now, KeepFor: retention},
		})
	}
	errs, err := w.store.Finish(w.ctx, w.now, items)
	w.check(err, "finish")
	for i, err := range errs {
		w.check(err, "item %d", i)
	}
	var want []timer.UUID
	for i, u := range order {
		if i != 3 && i != 9 && i != 13 && i != 1 {
			want = append(want, u)
		}
	}
	want = append(want, late.UUID) // due now, so it is last
	w.equal("rows left", rowIDs(w.due(w.claim(id)[0].Claim, store.MinKey(), w.now).Rows), want)
}

func finishStaleHint(w *world) {
	for i, hint := range []timer.Millis{-1, 1, hour, -hour} {
		for _, kind := range finishKinds() {
			id := fmt.Sprint(kind.name, i)
			t := w.put(id, w.now)
			f := w.finishOp(&t, kind.kind)
			f.DueAt += hint
			w.check(w.finish(f), "%s with a due time %d ms off", kind.name, hint)
			if _, there := w.row(f.Ref); there == kind.gone {
				w.t.Errorf("%s with a due time %d ms off: the row is there: %t", kind.name, hint, there)
			}
		}
	}
}

func finishLargeBatch(w *world) {
	n := w.factory.largeBatch() / 2
	ops := make([]store.Op, n)
	for i := range ops {
		ops[i] = w.putOp(fmt.Sprint(i), w.now)
	}
	kinds := finishKinds()
	items := make([]store.Finish, n)
	for i, out := range w.writeAll(ops...) {
		items[i] = w.finishOp(&out.Timer, kinds[i%len(kinds)].kind)
		if i%10 == 9 {
			items[i].If.Revision++
		}
	}
	errs, err := w.store.Finish(w.ctx, w.now, items)
	w.check(err, "finish")
	for i, err := range errs {
		kind := kinds[i%len(kinds)]
		_, there := w.row(items[i].Ref)
		if i%10 == 9 {
			w.wantErr(err, store.ErrConflict, "item %d", i)
			continue
		}
		w.check(err, "item %d", i)
		if there == kind.gone {
			w.t.Fatalf("item %d (%s): the row is there: %t", i, kind.name, there)
		}
	}
}

func finishDeadWhole(w *world) {
	for id, change := range map[string]func(s *timer.Spec){
		"no payload": func(s *timer.Spec) { s.Payload = nil },
		"event": func(s *timer.Spec) {
			s.Deliver, s.CallbackURL, s.CorrelationID = timer.DeliverEvent, "", ""
		},
		"large": func(s *timer.Spec) {
			s.Payload = make([]byte, timer.MaxPayload)
			for i := range s.Payload {
				s.Payload[i] = '0'
			}
			s.Payload[0] = '1'
		},
		"request": func(s *timer.Spec) {
			s.Deliver, s.Topic, s.EventKey = timer.DeliverCallback, "", ""
			s.Request, s.Payload = timer.Request{Method: "PATCH", ContentType: "a/b"}, []byte{0, 0xff}
		},
	} {
		op := w.putOp(id, w.now)
		change(&op.Spec)
		row := w.mustWrite(op).Timer
		f := w.end(&row, store.FinishDead)
		w.equal(id, w.mustGet(op.Ref), ended(row, w.now, timer.StatusDead, &f.Record))
	}
}

func finishReturnsStart(w *world) {
	t := w.used("a")
	for _, want := range []int{1, 0, 0} { // there are two starts
		f := w.finishOp(&t, store.FinishPostponed)
		f.ReturnStart = true
		w.check(w.finish(f), "postpone")
		if t, _ = w.row(f.Ref); t.Starts != want {
			w.t.Fatalf("%d starts after one was given back, want %d", t.Starts, want)
		}
	}
	t = w.used("b")
	if t = w.move(&t, store.FinishPostponed); t.Starts != 2 {
		w.t.Errorf("%d starts after a postponement that gives none back, want 2", t.Starts)
	}
	f := w.finishOp(&t, store.FinishLeased)
	f.CountStart = true
	w.check(w.finish(f), "lease")
	t, _ = w.row(f.Ref)
	f = w.finishOp(&t, store.FinishPostponed)
	f.ReturnStart = true
	w.check(w.finish(f), "postpone")
	if t, _ = w.row(f.Ref); t.Starts != 2 {
		w.t.Errorf("%d starts after a lease that counted one and its return, want 2", t.Starts)
	}
}

// finishSetsTurn checks which writes set, keep and clear the turn of a timer's flow.
func finishSetsTurn(w *world) {
	ref := w.ref("a")
	var t timer.Timer
	want := func(what string, turn timer.Millis) {
		w.t.Helper()
		t, _ = w.row(ref)
		if got := w.mustGet(ref).FlowTurn; t.FlowTurn != turn || got != turn {
			w.t.Fatalf("%s: the turn is %s, and %s by get, want %s", what, t.FlowTurn, got, turn)
		}
	}
	postpone := func(turn timer.Millis) {
		w.t.Helper()
		t, _ = w.row(ref)
		f := w.finishOp(&t, store.FinishPostponed)
		f.FlowTurn = turn
		w.check(w.finish(f), "postpone")
	}
	at := w.now + hour
	w.put("a", w.now)
	want("a create", 0)
	postpone(0)
	want("a postponement without a turn", 0)
	postpone(at)
	want("a postponement with a turn", at)
	postpone(0)
	want("another one without a turn", at)
	postpone(at + 1)
	want("another one with a turn", at+1)
	w.move(&t, store.FinishLeased)
	want("a lease", at+1)
	w.move(&t, store.FinishRetry)
	want("a retry", 0)
	postpone(at)
	t, _ = w.row(ref)
	w.move(&t, store.FinishRescheduled)
	want("a reschedule", 0)
	postpone(at)
	w.check(w.update(ref, timer.Patch{}).Err, "update")
	want("an update", 0)
	postpone(at)
	w.put("a", w.now)
	want("a replacement", 0)
	postpone(at)
	w.pause("a")
	want("a pause", 0)
}

// finishKeepsPlanned makes all kinds of writes, and checks the planned time of the next attempt after each.
func finishKeepsPlanned(w *world) {
	ref := w.ref("a")
	var t timer.Timer
	want := func(what string, planned timer.Millis) {
		w.t.Helper()
		t, _ = w.row(ref)
		if t.PlannedAt != planned {
			w.t.Fatalf("%s: planned at %s, want %s (due at %s)", what, t.PlannedAt, planned, t.DueAt)
		}
		if got := w.mustGet(ref).PlannedAt; got != planned {
			w.t.Fatalf("%s: get says planned at %s, want %s", what, got, planned)
		}
	}
	first := w.now + minute
	w.put("a", first)
	want("a create", first)
	for range 2 {
		for _, kind := range []store.FinishKind{store.FinishPostponed, store.FinishLeased, store.FinishLeased, store.FinishPostponed} {
			w.now += minute
			t = w.move(&t, kind)
			want("postponed or leased", first)
		}
	}
	w.now += hour
	w.check(w.update(ref, timer.Patch{Payload: new([]byte("1"))}).Err, "update")
	want("an update of the payload, long overdue", first)
	t = w.move(&t, store.FinishPostponed)
	w.move(&t, store.FinishRetry)
	want("a retry", w.now+minute)
	t = w.move(&t, store.FinishPostponed)
	w.move(&t, store.FinishRescheduled)
	want("a reschedule", w.now+minute)
	t = w.move(&t, store.FinishPostponed)
	at := w.now + 5*minute
	w.check(w.update(ref, timer.Patch{ExecuteAt: &at}).Err, "update")
	want("an update of executeAt", at)
	t = w.move(&t, store.FinishPostponed)
	w.move(&t, store.FinishParked)
	want("parked", at)
	w.now += hour
	w.check(w.update(ref, timer.Patch{}).Err, "update")
	want("an update of a parked timer", w.now)
	t = w.move(&t, store.FinishPostponed)
	w.put("a", w.now-hour)
	want("a replacement for a time that has passed", w.now)
	t = w.move(&t, store.FinishPostponed)
	t = w.move(&t, store.FinishParked)
	w.now += hour
	out, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{{Ref: ref, Revision: w.next(), ExecuteAt: w.now + minute}})
	w.check(err, "rearm")
	w.check(out[0].Err, "rearm")
	want("a parked timer that was retried", w.now+minute)
	t = w.move(&t, store.FinishPostponed)
	w.end(&t, store.FinishDead)
	if got := w.mustGet(ref); got.PlannedAt != got.DueAt {
		w.t.Errorf("dead: planned at %s, due at %s", got.PlannedAt, got.DueAt)
	}
	_, err = w.store.Rearm(w.ctx, w.now, []store.Rearm{{Ref: ref, Revision: w.next(), ExecuteAt: w.now + hour}})
	w.check(err, "rearm")
	want("a dead timer that was retried", w.now+hour)
}
