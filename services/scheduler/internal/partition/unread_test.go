package partition_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

var errHot = fmt.Errorf("due shard 3: %w: the shard is hot", store.ErrUnavailable)

// missed checks that the partition reports one missed shard.
func (b *bench) missed() {
	b.t.Helper()
	if n, err := b.p.Unserved(); n != 1 || !errors.Is(err, store.ErrUnavailable) {
		b.t.Errorf("missed %d shards: %v, want 1, unavailable", n, err)
	}
	if n, err := b.p.Unserved(); n != 0 || err != nil {
		b.t.Errorf("the second call of Missed returns %d shards: %v", n, err)
	}
}

// TestAShardThatCannotBePolledIsPolledAgain soon, and is not removed as if it were fenced.
func TestAShardThatCannotBePolledIsPolledAgain(t *testing.T) {
	b := newBench(t, limits())
	b.put(row(1, start+100, start))
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	q := b.p.Poll(start)
	if fenced := b.p.Polled(start, q, []store.DueShard{{Err: errHot}}); len(fenced) != 0 || !b.p.Owns(3) {
		t.Fatalf("shards %v fenced, still owned: %t", fenced, b.p.Owns(3))
	}
	b.missed()
	if at := b.p.PollAt(); at != start+500 {
		t.Fatalf("polled again after %d ms, want the busy poll: 500", at-start)
	}
	b.poll(start + 500)
	b.wantReleased(start+500, "1") // past its due time
}

// TestNothingIsConcludedOfAShardThatCannotBeSwept: its published states stay in flight although no row was found, and
// the shard does not become idle.
func TestNothingIsConcludedOfAShardThatCannotBeSwept(t *testing.T) {
	b := newBench(t, idling())
	b.put(row(1, start, start))
	b.begin()
	b.wantReleased(start, "1")
	q := b.p.SweepStart(start + 5000)
	if len(q.Shards) != 1 {
		t.Fatalf("the sweep reads %d shards, want 1", len(q.Shards))
	}
	_, done, fenced := b.p.Swept(q, []store.OverdueShard{{Err: errHot}})
	if !done || len(fenced) != 0 || !b.p.Owns(3) {
		t.Fatalf("the sweep is over: %t, shards %v fenced", done, fenced)
	}
	b.missed()
	if b.p.InFlight() != 1 || b.p.Idle() != 0 {
		t.Errorf("%d states in flight, %d idle shards; want 1 and 0", b.p.InFlight(), b.p.Idle())
	}
	b.remove(1)
	b.sweep(start + 10_000)
	if b.p.InFlight() != 0 || b.p.Idle() != 1 {
		t.Errorf("swept: %d states in flight, %d idle shards; want 0 and 1", b.p.InFlight(), b.p.Idle())
	}
}

func TestAWatermarkThatCouldNotBeMovedIsMovedLater(t *testing.T) {
	b := polled(t, row(1, start, start))
	b.wantReleased(start, "1")
	now := start + timer.Millis(5000)
	items := b.p.Advances(now)
	if len(items) != 1 {
		t.Fatalf("%d watermarks to move, want 1", len(items))
	}
	if fenced := b.p.Advanced(items, []error{errHot}); len(fenced) != 0 || !b.p.Owns(3) {
		t.Fatalf("shards %v fenced, still owned: %t", fenced, b.p.Owns(3))
	}
	b.missed()
	if again := b.p.Advances(now); len(again) != 1 || again[0] != items[0] {
		t.Errorf("then %v is to be moved, want %v", again, items)
	}
}
