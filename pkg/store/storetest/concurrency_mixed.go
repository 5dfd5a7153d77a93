package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// raceReaders: one racer writes a timer whose fields all have the same number, and the others read it.
func raceReaders(w *world) {
	const rounds = 50
	number := func(n int) store.Put {
		op := w.putOp("a", w.now+timer.Millis(n))
		op.Spec.Payload = fmt.Append(nil, n)
		op.Spec.CorrelationID = fmt.Sprint(n)
		return op
	}
	ops := make([]store.Op, rounds)
	for n := range ops {
		ops[n] = number(n)
	}
	w.mustWrite(ops[0])
	done := make(chan struct{})
	errs := make([]error, racers)
	w.race(func(r int, s store.Store) {
		if r == 0 {
			defer close(done)
			for i := range ops {
				if _, err := s.Write(w.ctx, w.now, ops[i:i+1]); err != nil {
					errs[r] = err
					return
				}
			}
			return
		}
		for {
			select {
			case <-done:
				return
			default:
			}
			t, err := readSomehow(w, s, r)
			if err == nil && !t.whole(w.now) {
				err = fmt.Errorf("a torn state: due %s, payload %s, correlation %s", t.DueAt, t.Payload, t.CorrelationID)
			}
			if err != nil {
				errs[r] = err
				return
			}
		}
	})
	for r := range racers {
		w.check(errs[r], "racer %d", r)
	}
}

type readState struct{ timer.Timer }

func (t readState) whole(now timer.Millis) bool {
	n := fmt.Append(nil, int64(t.DueAt-now))
	return bytes.Equal(t.Payload, n) && t.CorrelationID == string(n) && t.ExecuteAt == t.DueAt
}

func readSomehow(w *world, s store.Store, r int) (readState, error) {
	switch r % 3 {
	case 0:
		t, err := s.Get(w.ctx, w.now, w.ref("a"))
		return readState{t}, err
	case 1:
		out, err := s.Current(w.ctx, []store.Check{{Ref: w.ref("a"), DueAt: w.now}})
		if err != nil {
			return readState{}, err
		}
		return readState{out[0].Timer}, nil
	default:
		page, err := s.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 10})
		if err == nil && len(page.Timers) != 1 {
			err = fmt.Errorf("%d timers are listed, want 1", len(page.Timers))
		}
		if err != nil {
			return readState{}, err
		}
		return readState{page.Timers[0]}, nil
	}
}

// raceLives: racers create a timer with Keep or Fail and end it immediately. So each id is created only once.
func raceLives(w *world) {
	const rounds = 20
	ops := make([][]store.Put, racers)
	for r := range ops {
		for i := range rounds {
			op := w.putOp(fmt.Sprint(i), w.now)
			op.OnConflict = store.Fail
			if (r+i)%2 == 0 {
				op.OnConflict = store.Keep
			}
			ops[r] = append(ops[r], op)
		}
	}
	lives := make([][rounds]bool, racers)
	errs := make([]error, racers)
	var making sync.Mutex // of revisions, because racers share the generator
	w.race(func(r int, s store.Store) {
		for i := range rounds {
			out, err := s.Write(w.ctx, w.now, []store.Op{ops[r][i]})
			if err == nil && (out[0].Kept || errors.Is(out[0].Err, store.ErrExists)) {
				continue
			}
			if err == nil {
				err = out[0].Err
			}
			if err == nil {
				lives[r][i] = true
				making.Lock()
				end := w.finishOp(&out[0].Timer, store.FinishDone)
				making.Unlock()
				err = finishOnce(w, s, end)
			}
			if err != nil {
				errs[r] = err
				return
			}
		}
	})
	for r := range racers {
		w.check(errs[r], "racer %d", r)
	}
	for i := range rounds {
		n := 0
		for r := range racers {
			if lives[r][i] {
				n++
			}
		}
		if n != 1 {
			w.t.Errorf("timer %d was created %d times", i, n)
		}
		w.wantNoRow(w.ref(fmt.Sprint(i)))
		if got := w.history(w.ref(fmt.Sprint(i))); len(got) != 1 {
			w.t.Errorf("timer %d has %d history entries, want 1", i, len(got))
		}
	}
}

func finishOnce(w *world, s store.Store, f store.Finish) error {
	out, err := s.Finish(w.ctx, w.now, []store.Finish{f})
	if err != nil {
		return err
	}
	return out[0]
}

// raceEverything makes random calls on a few timers from all racers, and then compares the results of all reads.
func raceEverything(w *world) {
	const rounds, timers = 30, 12
	errs := make([]error, racers)
	revisions := make([][]timer.Revision, racers)
	for r := range revisions {
		for range rounds * 2 {
			revisions[r] = append(revisions[r], w.next())
		}
	}
	w.race(func(r int, s store.Store) {
		random := rand.New(rand.NewPCG(uint64(r), 1))
		for i := range rounds {
			id := fmt.Sprint(random.IntN(timers))
			if err := meddle(w, s, random, id, revisions[r][2*i], revisions[r][2*i+1]); err != nil {
				errs[r] = err
				return
			}
		}
	})
	for r := range racers {
		w.check(errs[r], "racer %d", r)
	}
	w.wantAgreement(timers)
}

func meddle(w *world, s store.Store, random *rand.Rand, id string, put, update timer.Revision) error {
	ref := w.ref(id)
	at := w.now + timer.Millis(random.IntN(5))*minute
	ops := []store.Op{
		store.Put{Ref: ref, Namespace: w.ns.Name, ID: id, Revision: put, Spec: w.spec(at)},
		store.Update{Ref: ref, Revision: update, Patch: timer.Patch{ExecuteAt: new(at + second)}},
		store.Delete{Ref: ref},
	}
	switch random.IntN(4) {
	case 0:
		_, err := s.Write(w.ctx, w.now, ops[:1+random.IntN(3)])
		return err
	case 1:
		_, err := s.Write(w.ctx, w.now, ops[random.IntN(3):])
		return err
	default:
		out, err := s.Current(w.ctx, []store.Check{{Ref: ref, DueAt: at, CountStart: true}})
		if err != nil || !out[0].Found {
			return err
		}
		kinds := finishKinds()
		_, err = s.Finish(w.ctx, w.now, []store.Finish{{
			Ref: ref, DueAt: out[0].Timer.DueAt, Kind: kinds[random.IntN(len(kinds))].kind,
			If: store.Guard{Revision: out[0].Timer.Revision}, Next: put, NextAt: at,
			Record: store.Record{Attempt: out[0].Timer.Attempts + 1, StartedAt: w.now, FinishedAt: w.now, KeepFor: retention},
		}})
		return err
	}
}

// wantAgreement compares the lists, the row checks, the polls and the sweeps with each other.
func (w *world) wantAgreement(timers int) {
	w.t.Helper()
	listed := map[timer.UUID]timer.Timer{}
	for _, t := range w.list(store.ListQuery{Limit: 5}) {
		if _, twice := listed[t.UUID]; twice {
			w.t.Errorf("timer %q is listed twice", t.ID)
		}
		listed[t.UUID] = t
	}
	live := 0
	for i := range timers {
		ref := w.ref(fmt.Sprint(i))
		row, there := w.row(ref)
		shown, inList := listed[ref.UUID]
		if there != inList {
			w.t.Errorf("timer %d: a row is there: %t, it is listed: %t", i, there, inList)
			continue
		}
		if there {
			live++
			w.equal("list", shown, row)
			w.equal("get", w.mustGet(ref), row)
		}
	}
	if live != len(listed) {
		w.t.Errorf("%d timers are listed, %d rows are there", len(listed), live)
	}
	marked := map[timer.UUID]bool{}
	for _, n := range w.outbox() {
		marked[n.Timer.UUID] = marked[n.Timer.UUID] || n.ID.Status == timer.StatusParked
	}
	due := 0
	for _, c := range w.claim(w.allShards()...) {
		rows := w.due(c.Claim, store.MinKey(), timer.MaxMillis).Rows
		w.equal("overdue", w.overdue(c.Claim, timer.MaxMillis).Rows, rows)
		if !slices.IsSortedFunc(rows, func(a, b store.DueRow) int { return a.Key().Compare(b.Key()) }) {
			w.t.Errorf("rows of shard %s are out of order", c.Claim.Shard)
		}
		for _, r := range rows {
			due++
			t := listed[r.Ref.UUID]
			if t.Revision != r.Revision || t.DueAt != r.DueAt || t.Status == timer.StatusParked {
				w.t.Errorf("due shows %+v of %+v", r, t)
			}
		}
	}
	for _, t := range listed {
		if t.Status != timer.StatusParked {
			due--
		} else if !marked[t.UUID] {
			w.t.Errorf("timer %q is parked without a mark", t.ID)
		}
	}
	if due != 0 {
		w.t.Errorf("%+d rows are due beyond the live ones that are not parked", due)
	}
}
