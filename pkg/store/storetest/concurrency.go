package storetest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func concurrencyTests() []test {
	return []test{
		{"I2_OfManyFinishesAtOnceOneWins", raceFinish},
		{"I5_OfManyClaimsAtOnceTheNewestHolds", raceClaim},
		{"I5_NoAdvanceLandsAfterATakeOver", raceAdvance},
		{"I13_StartsCountedAtOnceAreAllCounted", raceStarts},
		{"Concurrency/OfManyFailingPutsOneCreates", racePuts},
		{"Concurrency/UpdatesOfDifferentFieldsAllSurvive", raceUpdates},
		{"Concurrency/OfManyRearmsOneRevives", raceRearm},
		{"Concurrency/ATimerThatEndedMeanwhileIsNotMadeAgain", raceLives},
		{"Concurrency/ReadersSeeWholeStates", raceReaders},
		{"Concurrency/RowsAndTheirOrderAgreeAfterEverything", raceEverything},
	}
}

const racers = 6

// race runs the function for all racers at the same time, each with a separate handle if there are several.
func (w *world) race(run func(r int, s store.Store)) {
	w.t.Helper()
	handles := w.handles(racers)
	start := make(chan struct{})
	var group sync.WaitGroup
	for r, s := range handles {
		group.Go(func() {
			<-start
			run(r, s)
		})
	}
	close(start)
	group.Wait()
}

func raceFinish(w *world) {
	const rows = 10
	for _, kind := range finishKinds() {
		batches := make([][]store.Finish, racers)
		for i := range rows {
			t := w.put(fmt.Sprint(kind.name, i), w.now)
			for r := range racers {
				f := w.finishOp(&t, kind.kind)
				if r%2 == 1 && (kind.gone || kind.kind == store.FinishRescheduled) { // otherwise a second guard could match too
					f.If = store.Guard{Generation: t.Generation}
				}
				batches[r] = append(batches[r], f)
			}
		}
		for r := range racers { // in opposite orders, in which engines that lock rows one by one deadlock
			if r%2 == 1 {
				slices.Reverse(batches[r])
			}
		}
		errs := make([][]error, racers)
		failed := make([]error, racers)
		w.race(func(r int, s store.Store) { errs[r], failed[r] = s.Finish(w.ctx, w.now, batches[r]) })
		won := map[timer.UUID]int{}
		for r := range racers {
			w.check(failed[r], "finish by racer %d", r)
			for i, err := range errs[r] {
				switch {
				case err == nil:
					won[batches[r][i].Ref.UUID]++
				case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound):
					w.t.Errorf("%s: racer %d got %v", kind.name, r, err)
				}
			}
		}
		for i := range rows {
			ref := w.ref(fmt.Sprint(kind.name, i))
			if won[ref.UUID] != 1 {
				w.t.Errorf("%s: %d racers finished timer %d, want 1", kind.name, won[ref.UUID], i)
			}
			want := 0
			if kind.outcome != "" {
				want = 1
			}
			if got := w.history(ref); len(got) != want {
				w.t.Errorf("%s: timer %d has %d history entries, want %d", kind.name, i, len(got), want)
			}
		}
	}
}

func raceClaim(w *world) {
	const rounds = 5
	id := w.ns.Shards.Base
	owners := make([]store.Owner, racers)
	for r := range owners {
		owners[r] = w.owner()
	}
	claims := make([][]store.Claim, racers)
	errs := make([]error, racers)
	w.race(func(r int, s store.Store) {
		for range rounds {
			got, err := s.Claim(w.ctx, w.now, owners[r], w.allShards())
			if err != nil {
				errs[r] = err
				return
			}
			claims[r] = append(claims[r], got[0].Claim)
		}
	})
	seen := map[int64]bool{}
	var newest store.Claim
	for r := range racers {
		w.check(errs[r], "claim by racer %d", r)
		for _, c := range claims[r] {
			if seen[c.Version] {
				w.t.Fatalf("version %d was given twice", c.Version)
			}
			seen[c.Version] = true
			if c.Version > newest.Version {
				newest = c
			}
		}
	}
	for r := range racers {
		for _, c := range claims[r] {
			err := w.due(c, store.MinKey(), w.now).Err
			if c == newest {
				w.check(err, "due under the newest claim")
			} else {
				w.wantErr(err, store.ErrFenced, "due under version %d of %d", c.Version, newest.Version)
			}
		}
	}
	if w.claim(id)[0].Claim.Version != newest.Version+1 {
		w.t.Errorf("the next version is not one more than %d", newest.Version)
	}
}

// raceAdvance: racers claim and advance the same shard again and again. Only the newest claim may change the watermark
// that it found, so the watermark of each claim must follow from the claim before it.
func raceAdvance(w *world) {
	const rounds = 40
	id := w.ns.Shards.Base
	type tenure struct {
		claimed store.Claimed
		reached store.Key // the largest key whose advance was answered nil
	}
	tenures := make([][]tenure, racers)
	errs := make([]error, racers)
	owners := make([]store.Owner, racers)
	for r := range owners {
		owners[r] = w.owner()
	}
	w.race(func(r int, s store.Store) {
		for range rounds {
			got, err := s.Claim(w.ctx, w.now, owners[r], w.allShards()[:1])
			if err != nil {
				errs[r] = err
				return
			}
			mine := tenure{claimed: got[0], reached: got[0].Watermark}
			for step := range 3 {
				runtime.Gosched() // otherwise, with an engine that never waits, no other racer would run in between
				// Later claims use larger keys, so that a late advance of an older claim would be visible.
				to := store.Key{DueAt: w.now + timer.Millis(mine.claimed.Claim.Version)*10 + timer.Millis(step)}
				out, err := s.Advance(w.ctx, w.now, []store.Advance{{Claim: mine.claimed.Claim, Watermark: to}})
				switch {
				case err != nil:
					errs[r] = err
					return
				case out[0] == nil:
					mine.reached = to
				case !errors.Is(out[0], store.ErrFenced):
					errs[r] = out[0]
					return
				}
			}
			tenures[r] = append(tenures[r], mine)
		}
	})
	byVersion := map[int64]tenure{}
	last := w.claim(id)[0]
	for r := range racers {
		w.check(errs[r], "racer %d", r)
		for _, t := range tenures[r] {
			byVersion[t.claimed.Claim.Version] = t
		}
	}
	for version, t := range byVersion {
		next, ok := byVersion[version+1]
		if !ok {
			next.claimed = last
		}
		if next.claimed.Watermark != t.reached {
			w.t.Errorf("owner %d was told that it reached %v; owner %d found %v",
				version, t.reached, next.claimed.Claim.Version, next.claimed.Watermark)
		}
	}
}

func raceStarts(w *world) {
	const each = 5
	t := w.put("a", w.now)
	check := store.Check{Ref: w.ref("a"), DueAt: t.DueAt, Revision: t.Revision, CountStart: true}
	errs := make([]error, racers)
	counted := make([]int, racers)
	w.race(func(r int, s store.Store) {
		for range each {
			out, err := s.Current(w.ctx, []store.Check{check})
			if err != nil {
				errs[r] = err
				return
			}
			if out[0].Counted {
				counted[r]++
			}
		}
	})
	for r := range racers {
		w.check(errs[r], "racer %d", r)
		if counted[r] != each {
			w.t.Errorf("racer %d counted %d of %d", r, counted[r], each)
		}
	}
	t.Starts = racers * each
	w.wantRow(w.ref("a"), &t)
}

func racePuts(w *world) {
	for round := range 5 {
		id := fmt.Sprint(round)
		ops := make([]store.Op, racers)
		for r := range ops {
			op := w.putOp(id, w.now)
			op.OnConflict = store.Fail
			ops[r] = op
		}
		out := make([]store.Written, racers)
		errs := make([]error, racers)
		w.race(func(r int, s store.Store) {
			written, err := s.Write(w.ctx, w.now, ops[r:r+1])
			if errs[r] = err; err == nil {
				out[r] = written[0]
			}
		})
		row, _ := w.row(w.ref(id))
		created := 0
		for r := range racers {
			w.check(errs[r], "racer %d", r)
			if out[r].Err == nil {
				created++
			} else {
				w.wantErr(out[r].Err, store.ErrExists, "racer %d", r)
			}
			w.equal(fmt.Sprintf("what racer %d was told", r), out[r].Timer, row)
		}
		if created != 1 {
			w.t.Errorf("round %d: %d racers created the timer", round, created)
		}
	}
}

func raceUpdates(w *world) {
	for round := range 5 {
		id := fmt.Sprint(round)
		t := w.put(id, w.now+minute)
		patches := []timer.Patch{
			{CallbackURL: new("https://other.example/")},
			{Payload: new([]byte("[1]"))},
			{CorrelationID: new("other")},
			{ExecuteAt: new(w.now + hour)},
			{Retry: &timer.RetryPatch{MaxAttempts: new(3)}},
			{Retry: &timer.RetryPatch{BackoffMultiplier: new(3.0)}},
		}
		want := t.Spec
		ops := make([]store.Op, racers)
		for r := range ops {
			ops[r] = store.Update{Ref: w.ref(id), Revision: w.next(), Patch: patches[r]}
			var err error
			want, err = patches[r].Apply(want)
			w.check(err, "the suite's own patch")
		}
		errs := make([]error, racers)
		w.race(func(r int, s store.Store) {
			out, err := s.Write(w.ctx, w.now, ops[r:r+1])
			if err == nil {
				err = out[0].Err
			}
			errs[r] = err
		})
		for r := range racers {
			w.check(errs[r], "racer %d", r)
		}
		row, _ := w.row(w.ref(id))
		w.equal("spec", row.Spec, want)
		if row.DueAt != w.now+hour {
			w.t.Errorf("due at %s, want %s", row.DueAt, w.now+hour)
		}
	}
}

func raceRearm(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDead, store.FinishParked} {
		id := fmt.Sprint(kind)
		t := w.put(id, w.now)
		w.end(&t, kind)
		items := make([]store.Rearm, racers)
		for r := range items {
			items[r] = w.rearmOp(id, w.now)
		}
		out := make([]store.Written, racers)
		errs := make([]error, racers)
		w.race(func(r int, s store.Store) {
			written, err := s.Rearm(w.ctx, w.now, items[r:r+1])
			if errs[r] = err; err == nil {
				out[r] = written[0]
			}
		})
		revived := 0
		row, _ := w.row(w.ref(id))
		for r := range racers {
			w.check(errs[r], "racer %d", r)
			if out[r].Err == nil {
				revived++
				w.equal("row", row, out[r].Timer)
			} else {
				w.wantErr(out[r].Err, store.ErrConflict, "racer %d", r)
			}
		}
		if revived != 1 {
			w.t.Errorf("kind %d: %d racers revived the timer", kind, revived)
		}
	}
}
