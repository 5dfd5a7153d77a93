package partition_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// small is the shard of namespace "m", which has few timers; shard 3 is of "n", which has many.
const small = shard.ID(7)

// fairBench has a backlog of 12 rows in namespace n, and room for 8 armed states and 4 in flight.
func fairBench(t *testing.T) *bench {
	t.Helper()
	l := limits()
	l.MaxArmed, l.MaxInFlight = 8, 4
	b := newBench(t, l)
	for id := byte(1); id <= 12; id++ {
		b.put(row(id, start-1000+timer.Millis(id), start-2000))
	}
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", claimed(small), b.position(1))
	b.floor(start, 1)
	b.poll(start)
	if n := b.p.Armed(); n != 8 {
		t.Fatalf("%d armed, want the bound of 8", n)
	}
	return b
}

func claimed(id shard.ID) store.Claimed {
	return store.Claimed{Claim: store.Claim{Shard: id, Version: 1}, Watermark: store.MinKey(), Published: store.MinKey()}
}

func smallRow(id byte, due timer.Millis) store.DueRow {
	r := row(id, due, start)
	r.Ref.Shard = small
	return r
}

func TestI16_AHintWithinTheShareIsArmed(t *testing.T) {
	b := fairBench(t)
	for id := byte(101); id <= 106; id++ {
		want := partition.HintArmed
		if id > 104 { // above the share of 4
			want = partition.HintLater
		}
		if got := b.p.Hint(start, hint(smallRow(id, start+100))); got != want {
			t.Errorf("hint %d was %s, want %s", id, got, want)
		}
	}
	if n := b.p.Armed(); n > 8 {
		t.Errorf("%d armed, want at most 8", n)
	}
}

// TestI16_WhatGaveRoomIsReadAgain: timers that are removed from the heap are published later, each once, and the
// watermark does not pass them.
func TestI16_WhatGaveRoomIsReadAgain(t *testing.T) {
	b := fairBench(t)
	for id := byte(101); id <= 104; id++ {
		b.p.Hint(start, hint(smallRow(id, start+100)))
	}
	seen := map[string]int{}
	for now := start + 100; now < start+200; now++ {
		for _, name := range b.release(now) {
			seen[name]++
		}
		if w, moved := b.watermark(now + 10_000); moved {
			for id := byte(1); id <= 12; id++ {
				name := fmt.Sprint(id)
				if key := b.rows[id-1].Key(); !key.After(w) && seen[name] == 0 {
					t.Fatalf("W is %v, past row %d, which is not published", w, id)
				}
			}
		}
		b.floor(now, b.end)
		b.poll(now)
	}
	for id := byte(1); id <= 12; id++ {
		name := fmt.Sprint(id)
		if n := seen[name]; n != 1 {
			t.Errorf("row %d was published %d times, want once", id, n)
		}
	}
	for id := 101; id <= 104; id++ {
		if n := seen[fmt.Sprint(id)]; n != 1 {
			t.Errorf("row %d was published %d times, want once", id, n)
		}
	}
}

// TestI16_APollFindsTheTimersOfASmallNamespaceWhileTheHeapIsFull, and reads them before those of the backlog.
func TestI16_APollFindsTheTimersOfASmallNamespaceWhileTheHeapIsFull(t *testing.T) {
	b := fairBench(t)
	b.p.Hint(start, hint(smallRow(101, start+10_000))) // brings the poll forward
	now := start + 8000
	if at := b.p.PollAt(); at != now {
		t.Fatalf("the next poll is in %d ms, want 8000", at-start)
	}
	q := b.p.Poll(now)
	if len(q.Shards) != 1 || q.Shards[0].Claim.Shard != small || q.Total > 8 {
		t.Fatalf("the poll reads %+v, want only the small namespace", q)
	}
	b.p.Polled(now, q, []store.DueShard{{Rows: []store.DueRow{smallRow(101, start+10_000)}, NextDueAt: timer.Never}})
	// If there is room for all, the small namespace comes first.
	b.release(now)
	if q = b.p.Poll(now + 60_000); len(q.Shards) != 2 || q.Shards[0].Claim.Shard != small {
		t.Fatalf("the poll reads %+v, want the small namespace first", q.Shards)
	}
}

// TestI16_ASmallNamespacePublishesBeyondTheBoundInFlight, up to its share, and all together at most twice the bound.
func TestI16_ASmallNamespacePublishesBeyondTheBoundInFlight(t *testing.T) {
	b := fairBench(t)
	if n := len(b.release(start)); n != 4 {
		t.Fatalf("%d released, want the bound of 4", n)
	}
	for id := byte(101); id <= 103; id++ {
		b.p.Hint(start, hint(smallRow(id, start)))
	}
	b.wantReleased(start, "101", "102") // its share, of two namespaces
	b.wantReleased(start)
}

func TestI16_WithoutCreditOnlyNamespacesWithFewTimersDuePublish(t *testing.T) {
	l := limits()
	l.MaxArmed, l.MaxInFlight = 100, 100
	b := newBench(t, l)
	for id := byte(1); id <= 40; id++ {
		b.put(row(id, start, start-2000))
	}
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", claimed(small), b.position(1))
	b.floor(start, 1)
	b.poll(start)
	publish := func(credit, want, wantLeft int) {
		t.Helper()
		batch, left := b.p.TakeDue(start, 1000, credit)
		positions := make([]bus.Position, len(batch))
		for i := range positions {
			positions[i] = b.position(b.end)
			b.end++
		}
		b.p.Published(start, batch, positions)
		if len(batch) != want || left != wantLeft {
			t.Fatalf("with credit for %d, %d are published and %d left; want %d and %d", credit, len(batch), left, want, wantLeft)
		}
	}
	publish(4, 4, 0)
	if at := b.p.NextPublishAt(start, 0); at != timer.Never {
		t.Fatalf("the next release is at %d, want never without credit", at)
	}
	if at := b.p.NextPublishAt(start, 1); at != start {
		t.Fatalf("the next release is at %d, want %d with credit", at, start)
	}
	publish(5, 5, 0)
	b.p.Hint(start, hint(smallRow(101, start)))
	if at := b.p.NextPublishAt(start, 0); at != start || !b.p.WantsCredit(start) {
		t.Fatalf("the next release is at %d, want %d", at, start)
	}
	publish(0, 1, 0)
	publish(41, 31, 10)
}

// TestI16_UnusedSharesAreUsed: a namespace that is alone may use everything.
func TestI16_UnusedSharesAreUsed(t *testing.T) {
	b := fairBench(t)
	b.poll(start)
	if n := len(b.release(start)); n != 4 || b.p.Armed() != 4 {
		t.Fatalf("%d released and %d armed, want 4 and 4", n, b.p.Armed())
	}
	b.poll(start)
	if n := b.p.Armed(); n != 8 {
		t.Fatalf("%d armed, want the bound of 8", n)
	}
}

// TestI16_ASmallNamespaceIsServedBesideABacklog runs 100 rounds with a backlog that never ends.
func TestI16_ASmallNamespaceIsServedBesideABacklog(t *testing.T) {
	b := fairBench(t)
	next := byte(13)
	for now := start; now < start+100; now++ {
		id := byte(150 + (now-start)%100)
		b.p.Hint(now, hint(smallRow(id, now)))
		found := false
		for _, name := range b.release(now) {
			found = found || name == fmt.Sprint(id)
		}
		if !found {
			t.Fatalf("the timer of the small namespace was not published at its due time, in round %d", now-start)
		}
		b.floor(now, b.end)
		for len(b.rows) < 40 && next < 150 {
			b.put(row(next, start-900+timer.Millis(next), start-2000))
			next++
		}
		b.poll(now)
	}
}

// TestI16_NoPollsWithoutRoom: more namespaces have due timers than the heap has room for, and nothing can be published.
func TestI16_NoPollsWithoutRoom(t *testing.T) {
	l := limits()
	l.MaxArmed, l.MaxInFlight = 8, 4
	b := newBench(t, l)
	for n := range byte(20) {
		id := shard.ID(100 + int(n))
		b.p.Claim(start, fmt.Sprint("n", n), claimed(id), b.position(1))
		one, two := row(10+n, start-10, start-2000), row(100+n, start-9, start-2000)
		one.Ref.Shard, two.Ref.Shard = id, id
		b.put(one, two)
	}
	b.floor(start, 1)
	polls := 0
	for now := start; now < start+100; now++ {
		for i := 0; i < 10 && b.p.PollAt() <= now; i++ {
			b.poll(now)
			polls++
		}
		b.release(now)
	}
	if polls > 20 {
		t.Errorf("%d polls in 100 ms, although dispatchers acknowledge no event", polls)
	}
	if n := b.p.Armed(); n != 8 {
		t.Errorf("%d armed, want the bound of 8", n)
	}
}

// TestI16_APollOfABacklogReadsAQuarterOfTheHeap: 16 states at a time are published from a full heap, of one namespace
// or of two with the same number of timers.
func TestI16_APollOfABacklogReadsAQuarterOfTheHeap(t *testing.T) {
	for namespaces := 1; namespaces <= 2; namespaces++ {
		l := limits()
		l.MaxArmed, l.MaxInFlight, l.PollPerShard, l.PollTotal = 256, 1<<20, 1000, 1000
		b := newBench(t, l)
		for i := range 5000 {
			r := row(1, start-100_000+timer.Millis(i), start-200_000)
			r.Ref.UUID = timer.UUID{byte(i >> 8), byte(i), 7}
			r.Revision = timer.Revision(i + 1)
			if namespaces == 2 && i%2 == 0 {
				r.Ref.Shard = small
			}
			b.put(r)
		}
		b.open(start, store.MinKey(), store.MinKey())
		b.p.Claim(start, "m", claimed(small), b.position(1))
		b.floor(start, 1)
		polls, published := 0, 0
		for now := start; published < 4000 && now < start+1000; now++ {
			if b.p.PollAt() <= now {
				b.poll(now)
				polls++
			}
			batch, _ := b.p.TakeDue(now, 16, 16)
			positions := make([]bus.Position, len(batch))
			for i := range positions {
				positions[i] = b.position(b.end)
				b.end++
			}
			b.p.Published(now, batch, positions)
			published += len(batch)
			b.floor(now, b.end)
		}
		if most := published / 32; published < 4000 || polls > most {
			t.Errorf("%d namespaces: %d polls for %d timers, want at most %d", namespaces, polls, published, most)
		}
	}
}

// TestI16_WhatGivesRoomWhileAPollRunsIsReadAgain: a timer of n after R, armed by a hint, is removed from the heap
// during a poll of its shard that began before the timer was written.
func TestI16_WhatGivesRoomWhileAPollRunsIsReadAgain(t *testing.T) {
	l := limits()
	l.MaxArmed, l.MaxInFlight = 8, 4
	b := newBench(t, l)
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", claimed(small), b.position(1))
	b.floor(start, 1)
	b.poll(start)
	for id := byte(1); id <= 5; id++ {
		b.put(row(id, start+1000+timer.Millis(id), start))
		b.p.Hint(start, hint(b.rows[id-1]))
	}
	b.put(row(60, start+1700, start))
	now := start + 600
	b.p.HintsLost(now)
	q := b.p.Poll(now)
	answer := make([]store.DueShard, len(q.Shards))
	for i, a := range q.Shards {
		answer[i].NextDueAt = timer.Never
		if a.Claim.Shard == 3 {
			answer[i].Rows = append(answer[i].Rows, b.rows...)
		}
	}
	b.rows = slices.Insert(b.rows, 5, row(50, start+1600, now))
	b.p.Hint(now, hint(b.rows[5]))
	for id := byte(101); id <= 103; id++ { // with the second of them the heap is full
		b.p.Hint(now, hint(smallRow(id, now)))
	}
	b.wantReleased(now, "101", "102", "103")
	b.p.Polled(now, q, answer)
	late := map[string]timer.Millis{}
	for at := now; at < start+3500; at++ {
		for _, name := range b.release(at) {
			late[name] = at
		}
		b.floor(at, b.end)
		if b.p.PollAt() <= at {
			b.poll(at)
		}
	}
	for _, r := range b.rows {
		name := fmt.Sprint(r.Ref.UUID[0])
		if at := late[name]; at != r.DueAt {
			t.Errorf("timer %s, due at %d, was published at %d (0: only the next sweep finds it)", name, r.DueAt-start, at-start)
		}
	}
}

// TestI16_RStaysAtOrAfterTheWatermark when a timer is removed from the heap that was committed late, at or below the
// watermark. The next sweep finds that timer.
func TestI16_RStaysAtOrAfterTheWatermark(t *testing.T) {
	l := limits()
	l.MaxArmed, l.MaxInFlight = 8, 4
	b := newBench(t, l)
	b.p.Claim(start, "n", claimed(4), b.position(1)) // another shard of n
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", claimed(small), b.position(1))
	b.floor(start, 1)
	b.put(row(90, start+1, start))
	b.poll(start)
	b.wantReleased(start+1, "90")
	b.rows = nil
	b.floor(start+1, b.end)
	now := start + 100_000
	b.sweep(now) // moves the sweep floor
	w, moved := b.watermark(now)
	if !moved {
		t.Fatal("W did not move")
	}
	for id := byte(1); id <= 6; id++ {
		r := row(id, start-60_000, now)
		r.Ref.Shard = 4
		b.p.Hint(now, hint(r))
	}
	late := row(50, w.DueAt-1, now-50_000)
	b.p.Hint(now, hint(late))
	b.put(late)
	for id := byte(101); id <= 102; id++ { // takes the room of late, the last one of n
		b.p.Hint(now, hint(smallRow(id, now+1000)))
	}
	b.release(now)
	b.floor(now, b.end)
	b.p.HintsLost(now)
	q := b.p.Poll(now)
	for _, a := range q.Shards {
		if a.Claim.Shard == 3 && w.After(a.After) {
			t.Errorf("R is %v, before W %v", a.After, w)
		}
	}
	b.p.Polled(now, q, make([]store.DueShard, len(q.Shards)))
	b.sweep(now + 2000)
	if released := b.release(now + 2000); !slices.Contains(released, "50") {
		t.Errorf("the sweep finds %v, want 50", released)
	}
}

// TestI16_ASweepPublishesForASmallNamespaceWithoutCredit, while another namespace needs credit.
func TestI16_ASweepPublishesForASmallNamespaceWithoutCredit(t *testing.T) {
	l := limits()
	l.MaxInFlight = 64
	b := newBench(t, l)
	b.page = 100
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", claimed(small), b.position(1))
	b.floor(start, 1)
	// R is after 20 timers of n and one of m, whose hints were lost.
	last, lastSmall := row(90, start+1000, start), smallRow(91, start+1000)
	b.put(last, lastSmall)
	b.poll(start)
	b.release(start + 1000)
	b.floor(start+1000, b.end)
	b.rows = nil
	for id := byte(1); id <= 20; id++ {
		b.put(row(id, start+500, start+500))
	}
	late := smallRow(101, start+600)
	late.UpdatedAt = start + 600
	b.put(late)
	now := start + 5000
	b.sweep(now)
	if n := b.p.SweepQueued(); n != 21 {
		t.Fatalf("the sweep finds %d timers, want 21", n)
	}
	if at := b.p.NextPublishAt(now, 0); at > now {
		t.Errorf("without credit the next release is at %d", at)
	}
	batch, _ := b.p.TakeDue(now, 100, 0)
	if len(batch) != 1 || name(&batch[0]) != "101" {
		t.Errorf("%d published without credit, want the one of the small namespace", len(batch))
	}
	if at := b.p.NextPublishAt(now, 0); at != timer.Never {
		t.Errorf("without credit the next release is at %d, want never", at)
	}
	if batch, left := b.p.TakeDue(now, 15, 30); len(batch) != 15 || left != 15 {
		t.Errorf("%d published and %d of 30 credit left, want 15 and 15", len(batch), left)
	}
	if batch, left := b.p.TakeDue(now, 100, 15); len(batch) != 5 || left != 10 {
		t.Errorf("%d published and %d of 15 credit left, want 5 and 10", len(batch), left)
	}
}

func TestI16_SmallNamespacesDoNotUseCredit(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", claimed(small), b.position(1))
	b.floor(start, 1)
	for id := byte(101); id <= 104; id++ {
		b.p.Hint(start, hint(smallRow(id, start)))
	}
	if batch, left := b.p.TakeDue(start, 100, 3); len(batch) != 4 || left != 3 {
		t.Errorf("%d published and %d of 3 credit left, want 4 and 3", len(batch), left)
	}
}

// TestI16_AMediumNamespaceIsServedBesideManySmallOnes: 300 namespaces with few timers each create a tenth more than
// dispatchers finish, and then another namespace has 40 due timers.
func TestI16_AMediumNamespaceIsServedBesideManySmallOnes(t *testing.T) {
	l := limits()
	l.MaxArmed, l.MaxInFlight, l.QueueDepth = 4096, 100_000, 100_000
	b := newBench(t, l)
	b.open(start, store.MinKey(), store.MinKey())
	for n := range 300 {
		b.p.Claim(start, fmt.Sprint("s", n), claimed(shard.ID(100+n)), b.position(1))
	}
	b.floor(start, 1)
	next, depth, finished, of := uint64(1000), 0, 0, 0
	for round := range 1600 { // of 25 ms
		now := start + timer.Millis(25*round)
		for range 22 {
			next++
			r := row(0, now, now)
			r.Ref.Shard = shard.ID(100 + next%300)
			r.Ref.UUID = timer.UUID{0xee, byte(next >> 16), byte(next >> 8), byte(next)}
			r.Revision = timer.Revision(next)
			b.p.Hint(now, hint(r))
		}
		for id := byte(1); id <= 40 && round == 800; id++ {
			b.p.Hint(now, hint(row(id, now, now)))
		}
		batch, _ := b.p.TakeDue(now, 512, max(0, 1000-depth))
		positions := make([]bus.Position, len(batch))
		for i := range positions {
			positions[i] = b.position(b.end)
			b.end++
			if batch[i].Row.Ref.Shard == 3 {
				of++
			}
		}
		b.p.Published(now, batch, positions)
		depth += len(batch)
		done := min(20, depth)
		depth, finished = depth-done, finished+done
		b.floor(now, int64(finished)+1)
	}
	if of < 40 {
		t.Errorf("%d of 40 timers are published 20 s after their due time; %d events of other timers are in the queue", of, depth)
	}
}

// TestI16_AllTogetherPublishAtMostTwiceTheBoundInFlight: each of ten namespaces has less than its share in flight.
func TestI16_AllTogetherPublishAtMostTwiceTheBoundInFlight(t *testing.T) {
	l := limits()
	l.MaxInFlight = 4
	b := newBench(t, l)
	for n := range 10 {
		b.p.Claim(start, fmt.Sprint("n", n), claimed(shard.ID(100+n)), b.position(1))
	}
	b.floor(start, 1)
	for n := range 10 {
		r := row(byte(n), start, start)
		r.Ref.Shard = shard.ID(100 + n)
		b.p.Hint(start, hint(r))
	}
	if n := len(b.release(start)); n != 8 {
		t.Errorf("%d published, want twice the bound of 4", n)
	}
}

// TestI16_ASweepDoesNotReadWhatGaveRoom: the next poll reads these rows again, so the sweep ends at R.
func TestI16_ASweepDoesNotReadWhatGaveRoom(t *testing.T) {
	l := limits()
	l.MaxArmed, l.MaxInFlight = 8, 4
	b := newBench(t, l)
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", claimed(small), b.position(1))
	b.floor(start, 1)
	for id := byte(1); id <= 8; id++ {
		b.put(row(id, start+timer.Millis(id), start))
	}
	b.poll(start)
	b.p.Hint(start, hint(smallRow(101, start)))
	r := b.rows[7].Key() // the last one is removed
	for _, asked := range b.p.SweepStart(start + 5000).Shards {
		if asked.Claim.Shard == 3 && !r.After(asked.Upto) {
			t.Errorf("the sweep reads up to %v, want R, before %v", asked.Upto, r)
		}
	}
}
