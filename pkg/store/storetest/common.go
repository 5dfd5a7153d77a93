package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// commonTests are the rules in the comment of store.Store.
func commonTests() []test {
	return []test{
		{"Common/AnswersHaveTheLengthAndOrderOfTheBatch", answersHaveTheOrderOfTheBatch},
		{"Common/AnItemThatFailsLeavesTheOthersAlone", failedItemsLeaveTheOthersAlone},
		{"Common/AnEmptyBatchIsAnsweredWithoutAsking", emptyBatches},
		{"Common/AContextThatEndedIsTheErrorOfTheWholeCall", endedContext},
		{"Common/ReadsSeeEveryAnsweredWriteThroughEveryHandle", readsAreConsistent},
		{"Common/NothingPassedInIsKeptOrChanged", nothingPassedInIsKept},
		{"Common/NothingReturnedIsShared", nothingReturnedIsShared},
		{"Common/TheTimeIsTheCallers", timeIsTheCallers},
		{"Common/EveryWriteSetsUpdatedAt", everyWriteSetsUpdatedAt},
		{"I6_NoWriteIsDueBeforeThePresentOrItsExecuteAt", noWriteIsDueInThePast},
		{"I3_RevisionsAreTheCallersAndNeverRepeat", revisionsAreTheCallers},
	}
}

func answersHaveTheOrderOfTheBatch(w *world) {
	const n = 50
	ops := make([]store.Op, n)
	for i := range ops {
		ops[i] = w.putOp(string(rune('A'+i)), w.now+timer.Millis(i)*second)
	}
	written := w.writeAll(ops...)
	checks := make([]store.Check, n)
	for i, op := range ops {
		want, ok := op.(store.Put)
		if !ok || written[i].Err != nil || written[i].Timer.ID != want.ID {
			w.t.Fatalf("answer %d is about %q (%v), want %q", i, written[i].Timer.ID, written[i].Err, want.ID)
		}
		checks[n-1-i] = store.Check{Ref: want.Ref}
	}
	// In reverse order, with a missing timer in between.
	checks = slices.Insert(checks, 7, store.Check{Ref: w.ref("nobody")})
	got, err := w.store.Current(w.ctx, checks)
	w.check(err, "current")
	if len(got) != len(checks) {
		w.t.Fatalf("%d answers to %d checks", len(got), len(checks))
	}
	for i, c := range got {
		if c.Found != (i != 7) || c.Found && c.Timer.UUID != checks[i].Ref.UUID {
			w.t.Fatalf("answer %d is about %q (found %t)", i, c.Timer.ID, c.Found)
		}
	}
	shards := w.allShards()
	slices.Reverse(shards)
	w.claim(shards...) // claim checks the order
}

func failedItemsLeaveTheOthersAlone(w *world) {
	a, b := w.put("a", w.now+minute), w.put("b", w.now+minute)
	out := w.writeAll(
		store.Delete{Ref: w.ref("nobody")},
		w.putOp("c", w.now+minute),
		store.Update{Ref: w.ref("a"), Revision: w.next(), Patch: timer.Patch{CallbackURL: new("ftp://no")}},
		store.Delete{Ref: w.ref("b"), IfGeneration: b.Generation + 1},
		store.Delete{Ref: w.ref("b"), IfGeneration: b.Generation},
	)
	for i, want := range []error{store.ErrNotFound, nil, store.ErrInvalid, store.ErrConflict, nil} {
		w.wantErr(out[i].Err, want, "operation %d", i)
	}
	w.wantRow(w.ref("a"), &a)
	w.wantNoRow(w.ref("b"))
	c, ok := w.row(w.ref("c"))
	if !ok {
		w.t.Fatal("the put beside refused operations was not applied")
	}

	miss, hit := w.finishOp(&a, store.FinishDone), w.finishOp(&c, store.FinishDone)
	miss.If.Revision++
	errs, err := w.store.Finish(w.ctx, w.now, []store.Finish{miss, hit})
	w.check(err, "finish")
	w.wantErr(errs[0], store.ErrConflict, "finish with another revision")
	w.check(errs[1], "finish beside a refused one")
	w.wantRow(w.ref("a"), &a)
	w.wantNoRow(w.ref("c"))
}

func emptyBatches(w *world) {
	// The context has ended, so a request to the database would fail.
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	s, now := w.store, w.now
	for what, call := range map[string]func() (int, error){
		"Write":            func() (int, error) { out, err := s.Write(ctx, now, nil); return len(out), err },
		"Claim":            func() (int, error) { out, err := s.Claim(ctx, now, w.owner(), nil); return len(out), err },
		"Release":          func() (int, error) { out, err := s.Release(ctx, now, nil); return len(out), err },
		"Advance":          func() (int, error) { out, err := s.Advance(ctx, now, nil); return len(out), err },
		"Current":          func() (int, error) { out, err := s.Current(ctx, nil); return len(out), err },
		"Finish":           func() (int, error) { out, err := s.Finish(ctx, now, nil); return len(out), err },
		"Rearm":            func() (int, error) { out, err := s.Rearm(ctx, now, nil); return len(out), err },
		"RemoveFromOutbox": func() (int, error) { return 0, s.RemoveFromOutbox(ctx, nil) },
		"Inspect":          func() (int, error) { out, err := s.Inspect(ctx, nil); return len(out), err },
		"Outbox":           func() (int, error) { out, err := s.Outbox(ctx, nil, now, 10); return len(out), err },
		"Due": func() (int, error) {
			out, err := s.Due(ctx, store.DueQuery{Horizon: now, PerShard: 10, Total: 10})
			return len(out), err
		},
		"Overdue": func() (int, error) {
			out, err := s.Overdue(ctx, store.OverdueQuery{Before: now, Limit: 10})
			return len(out), err
		},
	} {
		if n, err := call(); n != 0 || err != nil {
			w.t.Errorf("%s of nothing gave %d answers and %v", what, n, err)
		}
	}
}

func endedContext(w *world) {
	a := w.put("a", w.now+minute)
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	op := w.putOp("b", w.now+minute)
	_, err := w.store.Write(ctx, w.now, []store.Op{op})
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, store.ErrOutcomeUnknown):
	case errors.Is(err, store.ErrUnavailable):
		w.wantNoRow(op.Ref)
	default:
		w.t.Errorf("write under an ended context: %v", err)
	}
	_, err = w.store.Get(ctx, w.now, w.ref("a"))
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrUnavailable) {
		w.t.Errorf("get under an ended context: %v", err)
	}
	// The handle can still be used.
	w.wantRow(w.ref("a"), &a)
	w.put("c", w.now+minute)
}

func readsAreConsistent(w *world) {
	handles := w.handles(2)
	write, read := handles[0], handles[1]
	for i := range 20 {
		w.store = write
		a := w.put("a", w.now+timer.Millis(i))
		w.store = read
		w.wantRow(w.ref("a"), &a)
		w.equal("get", w.mustGet(w.ref("a")), a)
		page, err := read.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 10})
		w.check(err, "list")
		if len(page.Timers) != 1 || page.Timers[0].Revision != a.Revision {
			w.t.Fatalf("list shows %+v, want revision %s", page.Timers, a.Revision)
		}
		claimed := w.claim(w.ref("a").Shard)[0]
		rows := w.due(claimed.Claim, store.MinKey(), a.DueAt).Rows
		if len(rows) != 1 || rows[0].Revision != a.Revision {
			w.t.Fatalf("due shows %+v, want revision %s", rows, a.Revision)
		}
		// Claims and outcomes of one handle are visible to the other.
		w.store = write
		moved := store.Key{DueAt: w.now + timer.Millis(i)}
		errs, err := write.Advance(w.ctx, w.now, []store.Advance{{Claim: claimed.Claim, Watermark: moved}})
		w.check(err, "advance")
		w.check(errs[0], "advance under the other handle's claim")
		w.end(&a, store.FinishDone)
		w.store = read
		if got := w.claim(w.ref("a").Shard)[0].Watermark; got != moved {
			w.t.Fatalf("claim finds watermark %v, want %v", got, moved)
		}
		if got := w.history(w.ref("a")); len(got) != i+1 {
			w.t.Fatalf("history has %d rows, want %d", len(got), i+1)
		}
	}
}

func nothingPassedInIsKept(w *world) {
	op := w.putOp("a", w.now+minute)
	payload := slices.Clone(op.Spec.Payload)
	want := w.mustWrite(op).Timer
	if !slices.Equal(op.Spec.Payload, payload) {
		w.t.Fatalf("the payload passed in was changed to %q", op.Spec.Payload)
	}
	clear(op.Spec.Payload)
	w.wantRow(op.Ref, &want)

	fresh := []byte(`"fresh"`)
	patch := store.Update{Ref: op.Ref, Revision: w.next(), Patch: timer.Patch{Payload: &fresh}}
	want = w.mustWrite(patch).Timer
	clear(fresh)
	if string(want.Payload) != `"fresh"` {
		w.t.Fatalf("the answer to an update shares its payload: %q", want.Payload)
	}
	w.wantRow(op.Ref, &want)

	shards := []shard.ID{w.ns.Shards.Base + 2, w.ns.Shards.Base}
	w.claim(shards...)
	if shards[0] != w.ns.Shards.Base+2 {
		w.t.Fatal("claim sorted the caller's slice")
	}
}

func nothingReturnedIsShared(w *world) {
	written := w.mustWrite(w.putOp("a", w.now+minute))
	a, _ := w.row(w.ref("a"))
	clear(written.Timer.Payload)
	w.wantRow(w.ref("a"), &a)

	got := w.mustGet(w.ref("a"))
	clear(got.Payload)
	row, _ := w.row(w.ref("a"))
	clear(row.Payload)
	page, err := w.store.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 1})
	w.check(err, "list")
	clear(page.Timers[0].Payload)
	page.Timers[0].ID = "other"
	replaced := w.mustWrite(w.putOp("a", w.now+hour))
	if replaced.Prior != nil {
		clear(replaced.Prior.Payload)
		replaced.Prior.ID = "other"
	}
	a = replaced.Timer
	w.wantRow(w.ref("a"), &a)

	w.end(&a, store.FinishDead)
	dead := w.mustGet(w.ref("a"))
	clear(w.outbox()[0].Timer.Payload)
	again := w.mustGet(w.ref("a"))
	w.equal("dead timer", again, dead)
	clear(again.Payload)
	w.equal("dead timer", w.mustGet(w.ref("a")), dead)
	clear(w.write(store.Put{Ref: w.ref("a"), Spec: w.spec(w.now), OnConflict: store.Keep}).Timer.Payload)
	w.equal("dead timer", w.mustGet(w.ref("a")), dead)
}

// timeIsTheCallers finishes a timer in each of several years: an engine that reads its own clock, or one that only
// moves forward, fails.
func timeIsTheCallers(w *world) {
	for _, now := range []timer.Millis{start * 7, start - 100*24*hour, start} {
		w.now = now
		id := now.String() // a different id each time: an engine need not purge the history of a different present
		a := w.put(id, now+second)
		if a.CreatedAt != now || a.UpdatedAt != now || a.DueAt != now+second {
			w.t.Fatalf("at %s: created %s, updated %s, due %s", now, a.CreatedAt, a.UpdatedAt, a.DueAt)
		}
		w.end(&a, store.FinishDone)
		if got := w.mustGet(w.ref(id)); got.UpdatedAt != now {
			w.t.Fatalf("at %s: finished at %s", now, got.UpdatedAt)
		}
		w.now = now + timer.Millis(retention.Milliseconds())
		_, err := w.get(w.ref(id))
		w.wantErr(err, store.ErrNotFound, "get after the retention, at %s", w.now)
		_, err = w.store.Purge(w.ctx, w.now+hour, 10)
		w.check(err, "purge")
	}
}

// eachWrite makes every write that leaves a row, each on a separate timer, and calls visit with the states before and
// after. at is the requested time.
func (w *world) eachWrite(at timer.Millis, visit func(what string, revision timer.Revision, before *timer.Timer, after timer.Timer)) {
	w.t.Helper()
	fresh := func(what string) timer.Timer {
		t := w.put(what, w.now+hour)
		t = w.move(&t, store.FinishRetry)
		w.now += second
		return t
	}
	first := w.putOp("first", at)
	visit("put", first.Revision, nil, w.mustWrite(first).Timer)

	old := fresh("replace")
	replace := w.putOp("replace", at)
	visit("replace", replace.Revision, &old, w.mustWrite(replace).Timer)

	old = fresh("update")
	update := store.Update{Ref: w.ref("update"), Revision: w.next(), Patch: timer.Patch{ExecuteAt: &at}}
	visit("update", update.Revision, &old, w.mustWrite(update).Timer)

	for what, kind := range map[string]store.FinishKind{
		"rescheduled": store.FinishRescheduled, "retry": store.FinishRetry,
		"leased": store.FinishLeased, "postponed": store.FinishPostponed, "parked": store.FinishParked,
	} {
		old = fresh(what)
		f := w.finishOp(&old, kind)
		f.NextAt = at
		w.check(w.finish(f), "finish %s", what)
		after, _ := w.row(f.Ref)
		visit(what, f.Next, &old, after)
	}

	for what, kind := range map[string]store.FinishKind{
		"rearm dead": store.FinishDead, "rearm parked": store.FinishParked,
	} {
		old = fresh(what)
		w.end(&old, kind)
		w.now += second
		rearm := store.Rearm{Ref: refOf(w.ns, &old), Revision: w.next(), ExecuteAt: at}
		out, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{rearm})
		w.check(err, "rearm")
		w.check(out[0].Err, "rearm")
		visit(what, rearm.Revision, &old, out[0].Timer)
	}
}

func everyWriteSetsUpdatedAt(w *world) {
	w.eachWrite(w.now+2*hour, func(what string, _ timer.Revision, _ *timer.Timer, after timer.Timer) {
		row, _ := w.row(refOf(w.ns, &after))
		w.equal(what+": the row", row, after)
		if after.UpdatedAt != w.now {
			w.t.Errorf("%s: updatedAt is %s, want %s", what, after.UpdatedAt, w.now)
		}
	})
}

func noWriteIsDueInThePast(w *world) {
	w.eachWrite(w.now-hour, func(what string, _ timer.Revision, before *timer.Timer, after timer.Timer) {
		row, _ := w.row(refOf(w.ns, &after))
		w.equal(what+": the row", row, after)
		want := max(w.now, after.ExecuteAt)
		if what == "parked" {
			want = before.DueAt
		}
		if after.DueAt != want {
			w.t.Errorf("%s for an hour ago: due at %s, want %s (now %s, executeAt %s)", what, after.DueAt, want, w.now, after.ExecuteAt)
		}
		// Due returns the same.
		shown := w.due(w.claim(refOf(w.ns, &after).Shard)[0].Claim, store.MinKey(), timer.MaxMillis)
		for _, r := range shown.Rows {
			if r.Ref.UUID == after.UUID && r.DueAt != want {
				w.t.Errorf("%s for an hour ago: Due shows %s, want %s", what, r.DueAt, want)
			}
		}
	})
}

func revisionsAreTheCallers(w *world) {
	check := func(what string, revision timer.Revision, before *timer.Timer, after timer.Timer) {
		if after.Revision != revision {
			w.t.Errorf("%s: revision is %s, want the caller's %s", what, after.Revision, revision)
		}
		generation := timer.Generation(revision)
		switch what {
		case "retry", "leased", "postponed", "parked":
			generation = before.Generation
		}
		if after.Generation != generation {
			w.t.Errorf("%s: generation is %s, want %s", what, after.Generation, generation)
		}
	}
	w.eachWrite(w.now+2*hour, check)

	// Delete and create again: an old revision must never match the new row. The largest possible revision must be
	// stored correctly.
	old := w.put("again", w.now+minute)
	w.mustWrite(store.Delete{Ref: w.ref("again")})
	op := w.putOp("again", w.now+minute)
	op.Revision = 1<<63 - 1
	check("create again", op.Revision, nil, w.mustWrite(op).Timer)
	for _, guard := range []store.Guard{{Revision: old.Revision}, {Generation: old.Generation}} {
		f := w.finishOp(&old, store.FinishDone)
		f.If = guard
		w.wantErr(w.finish(f), store.ErrConflict, "finish of the life before by %+v", guard)
	}
	row, _ := w.row(w.ref("again"))
	check("create again", op.Revision, nil, row)
}

// millis converts a Duration to the unit of the suite.
func millis(d time.Duration) timer.Millis { return timer.Millis(d.Milliseconds()) }
