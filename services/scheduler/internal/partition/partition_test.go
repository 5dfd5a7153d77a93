package partition_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// start is the time at which all tests begin.
const start timer.Millis = 1_000_000

// limits are the limits of most tests. No shard becomes idle in the first hour.
func limits() partition.Limits {
	return partition.Limits{
		LookAhead: 2 * time.Second, BusyPoll: 500 * time.Millisecond, HintWindow: time.Minute,
		Slack: 2 * time.Second, Grace: 2 * time.Second,
		SweepMargin: time.Minute, FullSweep: 5 * time.Minute, LongBound: 6 * time.Minute, ClockBound: 250 * time.Millisecond, MaxInFlight: 8, MaxArmed: 16,
		PollPerShard: 1000, PollTotal: 1000, PollShards: 1000, ActiveFor: time.Hour, QueueDepth: 1000, SweepPublish: 100,
	}
}

// bench drives one partition with one shard as a session would. It also has the rows of the store.
type bench struct {
	t     *testing.T
	p     *partition.Partition
	claim store.Claim
	rows  []store.DueRow
	page  int   // rows per page of a sweep
	end   int64 // the due queue's end: the next offset
	// epochs has the first offsets of the due queue's later epochs.
	epochs []int64
}

func newBench(t *testing.T, l partition.Limits) *bench {
	t.Helper()
	b := &bench{t: t, p: partition.New(l), claim: store.Claim{Shard: 3, Version: 1}, end: 1, page: 2}
	return b
}

// polled returns a bench whose rows a poll has read. The shard was claimed at start, and no barrier is in place.
func polled(t *testing.T, rows ...store.DueRow) *bench {
	t.Helper()
	b := newBench(t, limits())
	b.put(rows...)
	b.begin()
	return b
}

// polledWithBarrier is polled while the barrier of the claim is in place.
func polledWithBarrier(t *testing.T, rows ...store.DueRow) *bench {
	t.Helper()
	b := newBench(t, limits())
	b.put(rows...)
	b.open(start, store.MinKey(), store.MinKey())
	b.poll(start)
	return b
}

// takenOver returns a bench whose shard was claimed at start from an earlier owner. The watermark is 3 s old, and the
// barrier is in place until the events below offset 10 are acknowledged.
func takenOver(t *testing.T, rows ...store.DueRow) *bench {
	t.Helper()
	b := newBench(t, limits())
	b.end = 10
	b.put(rows...)
	b.open(start, store.Key{DueAt: start - 3000}, store.MinKey())
	return b
}

// begin claims the shard with the smallest watermark, lets the barrier be removed, and reads the rows by a poll.
func (b *bench) begin() {
	b.t.Helper()
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.poll(start)
}

// open claims the shard with a watermark and a P.
func (b *bench) open(now timer.Millis, w, published store.Key) {
	b.p.Claim(now, "n", store.Claimed{Claim: b.claim, Watermark: w, Published: published}, b.position(b.end))
}

func (b *bench) position(offset int64) bus.Position {
	at := bus.Position{Epoch: 1, Offset: offset}
	for i, first := range b.epochs {
		if offset >= first {
			at.Epoch = int64(i) + 2
		}
	}
	return at
}

// floor passes an ack floor: all events below offset are acknowledged.
func (b *bench) floor(now timer.Millis, offset int64) {
	b.p.SetFloor(now, bus.Floor{Floor: b.position(offset), End: b.position(b.end)})
}

func row(id byte, due, updated timer.Millis) store.DueRow {
	return store.DueRow{
		Ref: store.Ref{Shard: 3, UUID: timer.UUID{id}}, Revision: timer.Revision(id), Attempt: 1,
		DueAt: due, UpdatedAt: updated, Target: timer.Target(id),
	}
}

// put adds rows. They must be in order.
func (b *bench) put(rows ...store.DueRow) { b.rows = append(b.rows, rows...) }

func (b *bench) remove(id byte) {
	kept := b.rows[:0]
	for _, r := range b.rows {
		if r.Ref.UUID[0] != id {
			kept = append(kept, r)
		}
	}
	b.rows = kept
}

// poll answers one poll from the rows.
func (b *bench) poll(now timer.Millis) {
	b.t.Helper()
	q := b.p.Poll(now)
	answer := make([]store.DueShard, len(q.Shards))
	total := 0
	for i, asked := range q.Shards {
		a := store.DueShard{NextDueAt: timer.Never}
		for _, r := range b.rows {
			switch {
			case r.Ref.Shard != asked.Claim.Shard, !r.Key().After(asked.After):
			case r.DueAt > q.Horizon:
				a.NextDueAt = min(a.NextDueAt, r.DueAt)
			case len(a.Rows) == q.PerShard, total == q.Total:
				a.Cut = true
			default:
				total++
				a.Rows = append(a.Rows, r)
			}
		}
		answer[i] = a
	}
	b.p.Polled(now, q, answer)
}

// release publishes the due states, and the bus acknowledges them.
func (b *bench) release(now timer.Millis) []string {
	b.t.Helper()
	batch, _ := b.p.TakeDue(now, 1000, 1000)
	positions := make([]bus.Position, len(batch))
	var names []string
	for i, o := range batch {
		if o.Row.DueAt > now {
			b.t.Fatalf("released %v before its due time, at %d", o.Row, now)
		}
		positions[i] = b.position(b.end)
		b.end++
		names = append(names, name(&o))
	}
	b.p.Published(now, batch, positions)
	return names
}

// name returns the id of an event's timer.
func name(o *partition.Outgoing) string { return fmt.Sprint(o.Row.Ref.UUID[0]) }

// sweep reads the rows in pages of b.page rows.
func (b *bench) sweep(now timer.Millis) {
	b.t.Helper()
	q := b.p.SweepStart(now)
	for range 100 {
		page := make([]store.OverdueShard, len(q.Shards))
		for i, asked := range q.Shards {
			for _, r := range b.rows {
				if r.Ref.Shard != asked.Claim.Shard || !r.Key().After(asked.From) || r.Key().After(asked.Upto) || r.DueAt >= q.Before {
					continue
				}
				if len(page[i].Rows) == b.page {
					page[i].More = true
					break
				}
				page[i].Rows = append(page[i].Rows, r)
			}
		}
		next, done, _ := b.p.Swept(q, page)
		if done {
			return
		}
		q = next
	}
	b.t.Fatal("the sweep did not end after 100 pages")
}

func (b *bench) wantReleased(now timer.Millis, want ...string) {
	b.t.Helper()
	if got := b.release(now); fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Fatalf("released %v, want %v", got, want)
	}
}

// watermark applies the advances and returns W, if it moved.
func (b *bench) watermark(now timer.Millis) (store.Key, bool) {
	items := b.p.Advances(now)
	if len(items) == 0 {
		return store.Key{}, false
	}
	b.p.Advanced(items, make([]error, len(items)))
	return items[0].Watermark, true
}

func hint(r store.DueRow) event.Hint {
	return event.Hint{
		Shard: r.Ref.Shard, UUID: r.Ref.UUID, Revision: r.Revision, Attempt: r.Attempt,
		DueAt: r.DueAt, UpdatedAt: r.UpdatedAt, Target: r.Target,
	}
}

func TestPollArmsAndReleasesAtTheDueTimeNotBefore(t *testing.T) {
	b := polledWithBarrier(t, row(1, start+1000, start), row(2, start+1500, start), row(3, start+9000, start))
	if b.p.Armed() != 2 {
		t.Fatalf("%d armed, want the 2 within the look-ahead", b.p.Armed())
	}
	b.wantReleased(start + 999)
	b.wantReleased(start+1000, "1")
	b.wantReleased(start+1500, "2")
	if at := b.p.PollAt(); at != start+7000 {
		t.Fatalf("next poll at %d, want the time when row 3 enters the prefetch window: %d", at-start, 7000)
	}
}

func TestPollComesAtLeastEveryHalfHintWindow(t *testing.T) {
	b := polledWithBarrier(t)
	first := b.p.PollAt()
	if first <= start || first > start+30_000 {
		t.Fatalf("next poll of an empty shard in %d ms, want at most 30000", first-start)
	}
	b.poll(first)
	if at := b.p.PollAt(); at != first+30_000 {
		t.Fatalf("the next poll is %d ms later, want 30000", at-first)
	}
}

func TestHintBringsThePollForwardEvenWhileOneRuns(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	q := b.p.Poll(start)
	b.p.Hint(start, hint(row(1, start+10_000, start)))
	b.p.Polled(start, q, []store.DueShard{{NextDueAt: timer.Never}})
	if at := b.p.PollAt(); at != start+8000 {
		t.Fatalf("next poll in %d ms, want 8000: the hinted due_at less the look-ahead", at-start)
	}
}

func TestHintArmsWithinTheLookAheadOnce(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	r := row(1, start+500, start)
	if got := b.p.Hint(start, hint(r)); got != partition.HintArmed {
		t.Fatalf("first hint: %s", got)
	}
	if got := b.p.Hint(start, hint(r)); got != partition.HintKnown {
		t.Fatalf("repeated hint: %s", got)
	}
	b.wantReleased(start+500, "1")
	if got := b.p.Hint(start+600, hint(r)); got != partition.HintKnown {
		t.Fatalf("hint of a state in flight: %s", got)
	}
	if got := b.p.Hint(start, event.Hint{Shard: 99}); got != partition.HintForeign {
		t.Fatalf("hint for a shard not claimed: %s", got)
	}
}

func TestRoomIsNotExceededAndReadStaysBeforeWhatWasLeftOut(t *testing.T) {
	l := limits()
	l.MaxArmed, l.MaxInFlight = 4, 3
	b := newBench(t, l)
	for i := range byte(10) {
		b.put(row(i+1, start, start-10_000))
	}
	b.begin()
	if b.p.Armed() != 4 {
		t.Fatalf("%d armed, want 4", b.p.Armed())
	}
	b.wantReleased(start, "1", "2", "3")
	b.wantReleased(start + 1)
	// The outcomes of the dispatchers make room once a sweep has found the rows gone.
	for i := range byte(3) {
		b.remove(i + 1)
	}
	b.sweep(start + 2)
	var all []string
	for now := start + 3; len(all) < 7 && now < start+100; now++ {
		b.poll(now)
		all = append(all, b.release(now)...)
		for _, n := range all {
			var id byte
			if _, err := fmt.Sscan(n, &id); err != nil {
				t.Fatal(err)
			}
			b.remove(id)
		}
		b.sweep(now)
	}
	if fmt.Sprint(all) != "[4 5 6 7 8 9 10]" {
		t.Fatalf("released after the first three: %v, want each of 4 to 10 once", all)
	}
}

func TestABacklogInOneShardDoesNotKeepTheOthersFromTheirPolls(t *testing.T) {
	l := limits()
	l.PollPerShard, l.PollTotal = 4, 4
	p := partition.New(l)
	for id := range shard.ID(3) {
		p.Claim(start, "n", store.Claimed{Claim: store.Claim{Shard: id, Version: 1}}, bus.Position{})
	}
	served := map[shard.ID]int{}
	for range 6 {
		q := p.Poll(start)
		answer := make([]store.DueShard, len(q.Shards))
		// Every shard has more rows than one poll may return; the first shard in the query gets the whole limit.
		for i, asked := range q.Shards {
			answer[i] = store.DueShard{Cut: true, NextDueAt: start}
			if i == 0 {
				answer[i].Rows = []store.DueRow{{Ref: store.Ref{Shard: asked.Claim.Shard}, DueAt: asked.After.DueAt + 1}}
				served[asked.Claim.Shard]++
			}
		}
		p.Polled(start, q, answer)
	}
	if served[0] != 2 || served[1] != 2 || served[2] != 2 {
		t.Fatalf("polls that brought something, by shard: %v, want 2 for each", served)
	}
}

func TestNamespaceMadeLaterIsClaimedApart(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", store.Claimed{Claim: store.Claim{Shard: 1, Version: 1}}, b.position(1))
	if got := fmt.Sprint(b.p.Shards()); got != fmt.Sprint([]shard.ID{1, 3}) {
		t.Fatalf("claimed: %v", got)
	}
	b.p.RemoveFenced(3)
	if b.p.Owns(3) || !b.p.Owns(1) {
		t.Fatal("a fenced shard must go, and it alone")
	}
}
