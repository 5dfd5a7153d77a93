package storetest

import (
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func positionsTests() []test {
	return []test{
		{"Positions/AreZeroAtFirstAndOneForEachPartition", positionsStart},
		{"Positions/MoveWithTheBatch", positionsMove},
		{"Positions/AnotherStoredPositionWritesNothing", positionsConflict},
		{"Positions/RefusedOperationsDoNotHinderTheMove", positionsRefused},
		{"Positions/ABatchWithoutOperationsOnlyMoves", positionsEmpty},
		{"Positions/OfManyThatMoveFromTheSamePlaceOneWins", positionsRace},
	}
}

const topic = "commands"

func (w *world) positions() store.Positions {
	w.t.Helper()
	p, ok := store.As[store.Positions](w.store)
	w.need(AnyPositions, ok)
	return p
}

func (w *world) wantPosition(p store.Positions, partition int, want store.Position) {
	w.t.Helper()
	got, err := p.Position(w.ctx, topic, partition)
	w.check(err, "position")
	if got != want {
		w.t.Fatalf("position of partition %d is %+v, want %+v", partition, got, want)
	}
}

func positionsStart(w *world) {
	p := w.positions()
	w.wantPosition(p, 0, store.Position{})
	moves := map[store.Move]bool{}
	for partition := range 3 {
		move := store.Move{Topic: topic, Partition: partition, To: store.Position{Epoch: 1, Offset: int64(partition) + 10}}
		_, err := p.WriteAt(w.ctx, w.now, nil, move)
		w.check(err, "move")
		moves[move] = true
	}
	for move := range moves {
		w.wantPosition(p, move.Partition, move.To)
	}
	got, err := p.Position(w.ctx, "other", 0)
	w.check(err, "position")
	if got != (store.Position{}) {
		w.t.Errorf("another topic is at %+v", got)
	}
}

func positionsMove(w *world) {
	p := w.positions()
	at := store.Position{Epoch: 7, Offset: 100}
	op := w.putOp("a", w.now+minute)
	out, err := p.WriteAt(w.ctx, w.now, []store.Op{op}, store.Move{Topic: topic, To: at})
	w.check(err, "write at")
	w.check(out[0].Err, "put")
	w.wantRow(op.Ref, &out[0].Timer)
	w.wantPosition(p, 0, at)

	// A newer topic epoch begins at a lower offset.
	next := store.Position{Epoch: 8, Offset: 3}
	out, err = p.WriteAt(w.ctx, w.now, []store.Op{store.Delete{Ref: op.Ref}}, store.Move{Topic: topic, From: at, To: next})
	w.check(err, "write at")
	w.check(out[0].Err, "delete")
	w.wantNoRow(op.Ref)
	w.wantPosition(p, 0, next)
}

func positionsConflict(w *world) {
	p := w.positions()
	at := store.Position{Epoch: 7, Offset: 100}
	_, err := p.WriteAt(w.ctx, w.now, nil, store.Move{Topic: topic, To: at})
	w.check(err, "move")
	a := w.put("a", w.now+minute)
	for _, from := range []store.Position{
		{}, {Epoch: 7, Offset: 99}, {Epoch: 7, Offset: 101}, {Epoch: 6, Offset: 100}, {Epoch: 8, Offset: 100},
	} {
		ops := []store.Op{w.putOp("a", w.now+hour), w.putOp("b", w.now+hour), store.Delete{Ref: w.ref("a")}}
		_, err := p.WriteAt(w.ctx, w.now, ops, store.Move{Topic: topic, From: from, To: store.Position{Epoch: 9}})
		w.wantErr(err, store.ErrConflict, "write at from %+v", from)
		w.wantPosition(p, 0, at)
		w.wantRow(w.ref("a"), &a)
		w.wantNoRow(w.ref("b"))
	}
}

func positionsRefused(w *world) {
	p := w.positions()
	b := w.put("b", w.now+minute)
	fail := w.putOp("b", w.now+hour)
	fail.OnConflict = store.Fail
	ops := []store.Op{
		store.Delete{Ref: w.ref("nobody")},
		w.putOp("a", w.now+minute),
		fail,
		store.Update{Ref: w.ref("b"), Revision: w.next(), IfGeneration: b.Generation + 1},
		store.Update{Ref: w.ref("b"), Revision: w.next(), Patch: timer.Patch{CallbackURL: new("x")}},
		w.putOp("c", w.now+minute),
	}
	at := store.Position{Epoch: 1, Offset: 6}
	out, err := p.WriteAt(w.ctx, w.now, ops, store.Move{Topic: topic, To: at})
	w.check(err, "write at")
	for i, want := range []error{store.ErrNotFound, nil, store.ErrExists, store.ErrConflict, store.ErrInvalid, nil} {
		w.wantErr(out[i].Err, want, "operation %d", i)
	}
	w.wantRow(w.ref("a"), &out[1].Timer)
	w.wantRow(w.ref("b"), &b)
	w.wantRow(w.ref("c"), &out[5].Timer)
	w.wantPosition(p, 0, at)
}

func positionsEmpty(w *world) {
	p := w.positions()
	at := store.Position{Epoch: 1, Offset: 6}
	out, err := p.WriteAt(w.ctx, w.now, nil, store.Move{Topic: topic, To: at})
	w.check(err, "write at")
	if len(out) != 0 {
		w.t.Errorf("%d answers to no operation", len(out))
	}
	w.wantPosition(p, 0, at)
}

func positionsRace(w *world) {
	w.positions() // skips the test if there is none
	const racers = 8
	handles := w.handles(racers)
	from := store.Position{}
	for round := range int64(5) {
		ops := make([]store.Put, racers)
		errs := make([]error, racers)
		for i := range ops {
			ops[i] = w.putOp(fmt.Sprintf("%d/%d", round, i), w.now+minute)
		}
		to := func(i int) store.Position { return store.Position{Epoch: round, Offset: int64(i) + 1} }
		var group sync.WaitGroup
		for i := range racers {
			group.Go(func() {
				p, _ := store.As[store.Positions](handles[i])
				_, errs[i] = p.WriteAt(w.ctx, w.now, []store.Op{ops[i]}, store.Move{Topic: topic, From: from, To: to(i)})
			})
		}
		group.Wait()
		won := -1
		for i, err := range errs {
			_, there := w.row(ops[i].Ref)
			switch {
			case err == nil && won >= 0:
				w.t.Fatalf("round %d: %d and %d moved from the same place", round, won, i)
			case err == nil && there:
				won = i
			case err == nil || there:
				w.t.Fatalf("round %d: racer %d got %v, and its row is there: %t", round, i, err, there)
			default:
				w.wantErr(err, store.ErrConflict, "racer %d", i)
			}
		}
		if won < 0 {
			w.t.Fatalf("round %d: nobody moved", round)
		}
		from = to(won)
		p, _ := store.As[store.Positions](w.store)
		w.wantPosition(p, 0, from)
	}
}
