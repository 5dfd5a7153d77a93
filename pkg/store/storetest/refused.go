package storetest

import (
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func refusedTests() []test {
	return []test{
		{"Refused/AShardLeavesTheOthersOfABatchAlone", refusedShard},
		{"Refused/AShardIsNoErrorOfTheWholeCall", refusedAlone},
		{"Refused/NothingIsAppliedBehindIt", refusedBehind},
	}
}

// pair is a timer in a shard that the database refuses, and one in another shard.
type pair struct{ hot, cool timer.Timer }

// refused returns a handle to which the database refuses one shard, and timers in it and in another shard, all due.
func (w *world) refused(n int) (store.Store, []pair) {
	w.t.Helper()
	w.need(AnyRefusing, w.subject.Refusing != nil)
	var hot shard.ID
	var in [2][]timer.Timer
	for i := 0; len(in[0]) < n || len(in[1]) < n; i++ {
		id := fmt.Sprint("timer ", i)
		at := w.ref(id).Shard
		if i == 0 {
			hot = at
		}
		which := 1
		if at == hot {
			which = 0
		}
		if len(in[which]) < n {
			in[which] = append(in[which], w.put(id, w.now))
		}
	}
	pairs := make([]pair, n)
	for i := range pairs {
		pairs[i] = pair{in[0][i], in[1][i]}
	}
	w.now += second
	return w.subject.Refusing(w.t, hot), pairs
}

// wantRefused checks the answers to a batch with a refused item and another one.
func (w *world) wantRefused(what string, err, hot, cool error) {
	w.t.Helper()
	switch {
	case err != nil:
		w.t.Errorf("%s: %v, want an answer for each item", what, err)
	case !errors.Is(hot, store.ErrUnavailable) || errors.Is(hot, store.ErrOutcomeUnknown) || errors.Is(hot, store.ErrFenced):
		w.t.Errorf("%s: %v in the shard that is refused, want ErrUnavailable", what, hot)
	case cool != nil:
		w.t.Errorf("%s: %v in the other shard", what, cool)
	}
}

func refusedShard(w *world) {
	s, pairs := w.refused(3)
	hot, cool := w.ref(pairs[0].hot.ID).Shard, w.ref(pairs[0].cool.ID).Shard
	claims := w.claim(hot, cool)

	written, err := s.Write(w.ctx, w.now, []store.Op{
		store.Update{Ref: w.ref(pairs[0].hot.ID), Revision: w.next()},
		store.Update{Ref: w.ref(pairs[0].cool.ID), Revision: w.next()},
	})
	if err == nil {
		w.wantRefused("write", err, written[0].Err, written[1].Err)
		pairs[0].cool = written[1].Timer
	} else {
		w.wantRefused("write", err, nil, nil)
	}

	for _, count := range []bool{false, true} {
		var checks []store.Check
		for _, t := range []timer.Timer{pairs[0].hot, pairs[0].cool} {
			checks = append(checks, store.Check{Ref: w.ref(t.ID), DueAt: t.DueAt, Revision: t.Revision, CountStart: count})
		}
		rows, err := s.Current(w.ctx, checks)
		if err != nil {
			w.wantRefused("current", err, nil, nil)
			continue
		}
		w.wantRefused("current", nil, rows[0].Err, rows[1].Err)
		if rows[0].Found || rows[0].Counted || !rows[1].Found || rows[1].Counted != count {
			w.t.Errorf("current, counting %t: refused %+v, other %+v", count, rows[0], rows[1])
		}
	}

	due, err := s.Due(w.ctx, store.DueQuery{Horizon: w.now, PerShard: 10, Total: 100, Shards: []store.DueAfter{
		{Claim: claims[0].Claim, After: store.MinKey()}, {Claim: claims[1].Claim, After: store.MinKey()},
	}})
	if err == nil {
		w.wantRefused("due", nil, due[0].Err, due[1].Err)
		if len(due[0].Rows) != 0 || len(due[1].Rows) == 0 {
			w.t.Errorf("due: %d rows of the shard that is refused, %d of the other", len(due[0].Rows), len(due[1].Rows))
		}
	} else {
		w.wantRefused("due", err, nil, nil)
	}
	overdue, err := s.Overdue(w.ctx, store.OverdueQuery{Before: w.now, Limit: 100, Shards: []store.OverdueRange{
		{Claim: claims[0].Claim, From: store.MinKey(), Upto: store.MaxKeyAt(w.now)},
		{Claim: claims[1].Claim, From: store.MinKey(), Upto: store.MaxKeyAt(w.now)},
	}})
	if err == nil {
		w.wantRefused("overdue", nil, overdue[0].Err, overdue[1].Err)
	} else {
		w.wantRefused("overdue", err, nil, nil)
	}
	w.refusedErrors("advance", func() ([]error, error) {
		return s.Advance(w.ctx, w.now, []store.Advance{
			{Claim: claims[0].Claim, Watermark: store.MaxKeyAt(w.now)}, {Claim: claims[1].Claim, Watermark: store.MaxKeyAt(w.now)},
		})
	})
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishLeased} {
		at := map[store.FinishKind]int{store.FinishDone: 1, store.FinishLeased: 2}[kind]
		w.refusedErrors(fmt.Sprint("finish ", kind), func() ([]error, error) {
			return s.Finish(w.ctx, w.now, []store.Finish{w.finishOp(&pairs[at].hot, kind), w.finishOp(&pairs[at].cool, kind)})
		})
	}
	w.refusedErrors("release", func() ([]error, error) {
		return s.Release(w.ctx, w.now, []store.Release{
			{Claim: claims[0].Claim, Published: store.MinKey()}, {Claim: claims[1].Claim, Published: store.MinKey()},
		})
	})
	again, err := s.Claim(w.ctx, w.now, w.owner(), []shard.ID{hot, cool})
	if err == nil {
		w.wantRefused("claim", nil, again[0].Err, again[1].Err)
	} else {
		w.wantRefused("claim", err, nil, nil)
	}

	// The refused items changed nothing, and the other items were applied.
	for _, p := range pairs {
		w.wantRow(w.ref(p.hot.ID), &p.hot)
	}
	w.wantNoRow(w.ref(pairs[1].cool.ID))
	states, err := w.store.Inspect(w.ctx, []shard.ID{hot, cool})
	w.check(err, "inspect")
	if states[0].Version != claims[0].Claim.Version || !states[0].Held || states[0].Watermark != claims[0].Watermark {
		w.t.Errorf("the shard that was refused stands at %+v", states[0])
	}
	if states[1].Version != claims[1].Claim.Version+1 || states[1].Watermark != store.MaxKeyAt(w.now) {
		w.t.Errorf("the other shard stands at %+v", states[1])
	}
}

func (w *world) refusedErrors(what string, call func() ([]error, error)) {
	w.t.Helper()
	out, err := call()
	if err != nil {
		w.wantRefused(what, err, nil, nil)
		return
	}
	w.wantRefused(what, nil, out[0], out[1])
}

// refusedAlone: an error of the whole call would mean that the store is unreachable, and callers would stop using other
// shards.
func refusedAlone(w *world) {
	s, pairs := w.refused(1)
	hot := &pairs[0].hot
	claim := w.claim(w.ref(hot.ID).Shard)[0].Claim
	written, err := s.Write(w.ctx, w.now, []store.Op{store.Update{Ref: w.ref(hot.ID), Revision: w.next()}})
	w.check(err, "write")
	rows, err := s.Current(w.ctx, []store.Check{{Ref: w.ref(hot.ID)}})
	w.check(err, "current")
	due, err := s.Due(w.ctx, store.DueQuery{
		Horizon: w.now, PerShard: 10, Total: 10, Shards: []store.DueAfter{{Claim: claim, After: store.MinKey()}},
	})
	w.check(err, "due")
	finished, err := s.Finish(w.ctx, w.now, []store.Finish{w.finishOp(hot, store.FinishDone)})
	w.check(err, "finish")
	for what, err := range map[string]error{"write": written[0].Err, "current": rows[0].Err, "due": due[0].Err, "finish": finished[0]} {
		w.wantRefused(what, nil, err, nil)
	}
	w.wantRow(w.ref(hot.ID), hot)
}

func refusedBehind(w *world) {
	s, pairs := w.refused(1)
	hot, cool := w.ref(pairs[0].hot.ID), w.ref(pairs[0].cool.ID)
	out, err := s.Write(w.ctx, w.now, []store.Op{
		store.Update{Ref: hot, Revision: w.next()}, store.Delete{Ref: cool}, store.Delete{Ref: hot},
	})
	w.check(err, "write")
	w.wantRefused("the first", nil, out[0].Err, out[1].Err)
	w.wantRefused("the second on the same timer", nil, out[2].Err, nil)
	w.wantRow(hot, &pairs[0].hot)
	w.wantNoRow(cool)
}
