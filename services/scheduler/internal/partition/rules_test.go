package partition_test

import (
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

func TestI4_TheSweepFindsWhatPollAndHintsMissed(t *testing.T) {
	b := polled(t, row(9, start+1000, start))
	b.wantReleased(start+1000, "9")
	// Committed under this claim, before R, and its hint was lost.
	b.rows = append([]store.DueRow{row(1, start+500, start+400)}, b.rows...)
	b.sweep(start + 2400)
	b.wantReleased(start + 2400)
	b.sweep(start + 2501)
	b.wantReleased(start+2501, "1")
}

func TestI4_TheSweepBringsThePollForwardForRowsBeyondR(t *testing.T) {
	b := polledWithBarrier(t)
	b.put(row(1, start+1000, start+10))
	b.sweep(start + 3001)
	if at := b.p.PollAt(); at > start+3001 {
		t.Fatalf("the next poll is in %d ms, want now", at-start-3001)
	}
	b.poll(start + 3001)
	b.wantReleased(start+3001, "1")
}

func TestI12_WhatIsPublishedWhileTheSweepReadsIsNotRepeated(t *testing.T) {
	b := polled(t, row(9, start+1000, start))
	b.wantReleased(start+1000, "9")
	late := row(1, start+500, start+400) // its hint comes between two pages
	q := b.p.SweepStart(start + 3000)
	q, done, _ := b.p.Swept(q, []store.OverdueShard{{Rows: []store.DueRow{late}, More: true}})
	if done {
		t.Fatal("the sweep ended before its last page")
	}
	b.p.Hint(start+3001, hint(late))
	b.wantReleased(start+3001, "1")
	b.p.Swept(q, []store.OverdueShard{{}})
	b.wantReleased(start + 3002)
}

// TestI12_WhatIsArmedWhileTheSweepReadsIsNotRepeated: it is due, but not yet published.
func TestI12_WhatIsArmedWhileTheSweepReadsIsNotRepeated(t *testing.T) {
	b := polled(t, row(9, start+1000, start))
	b.wantReleased(start+1000, "9")
	late := row(1, start+500, start+400)
	q := b.p.SweepStart(start + 3000)
	q, _, _ = b.p.Swept(q, []store.OverdueShard{{Rows: []store.DueRow{late}, More: true}})
	b.p.Hint(start+3001, hint(late))
	b.p.Swept(q, []store.OverdueShard{{}})
	b.wantReleased(start+3002, "1")
}

func TestI5_AFencedShardStopsAtOnce(t *testing.T) {
	b := polledWithBarrier(t, row(1, start+100, start), row(2, start+200, start))
	b.wantReleased(start+100, "1")
	if n := b.p.Advanced([]store.Advance{{Claim: b.claim}}, []error{store.ErrFenced}); !slices.Equal(n, []shard.ID{3}) {
		t.Fatalf("shards %v are fenced, want 3", n)
	}
	if b.p.Armed() != 0 || b.p.InFlight() != 0 || len(b.p.ClaimReleases()) != 0 {
		t.Fatal("a fenced shard must leave nothing behind")
	}
	b.wantReleased(start + 200)
}

// TestI5_EveryFencedCallStopsTheShard: nothing of it is published, polled or swept any more.
func TestI5_EveryFencedCallStopsTheShard(t *testing.T) {
	for name, fenced := range map[string]func(*bench) []shard.ID{
		"poll": func(b *bench) []shard.ID {
			q := b.p.Poll(start + 60_000)
			return b.p.Polled(start+60_000, q, []store.DueShard{{Err: store.ErrFenced}})
		},
		"sweep": func(b *bench) []shard.ID {
			_, _, fenced := b.p.Swept(b.p.SweepStart(start+60_000), []store.OverdueShard{{Err: store.ErrFenced}})
			return fenced
		},
		"advance": func(b *bench) []shard.ID {
			return b.p.Advanced([]store.Advance{{Claim: b.claim}}, []error{store.ErrFenced})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, limits())
			b.put(row(1, start-5000, start-9000), row(2, start+100, start))
			b.open(start, store.Key{DueAt: start - 3000}, store.MinKey())
			b.floor(start, 1)
			b.poll(start)
			b.sweep(start) // finds row 1, which is not yet published
			if n := fenced(b); !slices.Equal(n, []shard.ID{3}) {
				t.Fatalf("shards %v are fenced, want 3", n)
			}
			if b.p.Owns(3) || b.p.Armed() != 0 || b.p.InFlight() != 0 || b.p.PollAt() != timer.Never {
				t.Error("a fenced shard must leave nothing behind")
			}
			b.wantReleased(start + 60_000)
			if q := b.p.SweepStart(start + 60_000); len(q.Shards) != 0 {
				t.Errorf("the next sweep reads %d shards", len(q.Shards))
			}
		})
	}
}

func TestI5_AnAnswerToAnOlderClaimIsPassedOver(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	q := b.p.Poll(start)
	newer := store.Claim{Shard: 3, Version: 2}
	b.p.Claim(start, "n", store.Claimed{Claim: newer, Watermark: store.MinKey(), Published: store.MinKey()}, bus.Position{})
	if n := b.p.Polled(start, q, []store.DueShard{{Err: store.ErrFenced}}); len(n) != 0 || !b.p.Owns(3) {
		t.Fatal("the fence of an older claim must not end the newer one")
	}
}

// TestI5_AnAnswerToAnotherOwnersClaimIsPassedOver: a store that lost writes in a failover may assign a version twice.
func TestI5_AnAnswerToAnotherOwnersClaimIsPassedOver(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	older := b.claim
	poll, sweep := b.p.Poll(start), b.p.SweepStart(start)
	b.claim.Owner = timer.UUID{9}
	b.open(start, store.MinKey(), store.MinKey())
	found := row(1, start-5000, start-9000)
	fenced := b.p.Polled(start, poll, []store.DueShard{{Err: store.ErrFenced}})
	fenced = append(fenced, b.p.Advanced([]store.Advance{{Claim: older}}, []error{store.ErrFenced})...)
	_, _, swept := b.p.Swept(sweep, []store.OverdueShard{{Rows: []store.DueRow{found}}})
	if fenced = append(fenced, swept...); len(fenced) != 0 || !b.p.Owns(3) {
		t.Errorf("the fence of an older claim ends the newer one")
	}
	b.wantReleased(start)
	poll, sweep = b.p.Poll(start), b.p.SweepStart(start)
	b.claim.Owner = timer.UUID{10}
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Polled(start, poll, []store.DueShard{{Rows: []store.DueRow{found}}})
	_, _, swept = b.p.Swept(sweep, []store.OverdueShard{{Err: store.ErrFenced}})
	if len(swept) != 0 || !b.p.Owns(3) || b.p.Armed() != 0 {
		t.Errorf("the answers to an older claim count for the newer one")
	}
}

func TestI6_WatermarkCoversOnlyTheAcknowledgedPrefix(t *testing.T) {
	b := polledWithBarrier(t, row(1, start, start), row(2, start, start), row(3, start+1500, start))
	late := start + 60_000
	if w, moved := b.watermark(late); moved && !(store.Key{DueAt: start, UUID: timer.UUID{1}}).After(w) {
		t.Fatalf("W moved to %v although no timer is published", w)
	}
	batch, _ := b.p.TakeDue(start, 1000, 1000)
	if len(batch) != 2 {
		t.Fatalf("%d released, want 2", len(batch))
	}
	if w, moved := b.watermark(late); moved && !batch[0].Row.Key().After(w) {
		t.Fatalf("W moved to %v although no event is acknowledged", w)
	}
	b.p.Published(start, batch[1:], []bus.Position{b.position(2)})
	if w, moved := b.watermark(late); moved && !batch[0].Row.Key().After(w) {
		t.Fatalf("W moved to %v over the gap at %v", w, batch[0].Row.Key())
	}
	b.p.Published(start, batch[:1], []bus.Position{b.position(1)})
	w, moved := b.watermark(late)
	armed := store.Key{DueAt: start + 1500, UUID: timer.UUID{3}}
	if !moved || batch[1].Row.Key().After(w) || !armed.After(w) {
		t.Fatalf("W at %v (moved %v), want from the last acknowledged up to before the armed one", w, moved)
	}
	b.wantReleased(start+1500, "3")
	if w, _ := b.watermark(late); w != armed {
		t.Fatalf("W at %v, want R, the last key read: %v", w, armed)
	}
}

func TestI6_WatermarkStaysBehindThePresentByTheSlack(t *testing.T) {
	b := polledWithBarrier(t, row(1, start+1000, start))
	b.wantReleased(start+1000, "1")
	if w, moved := b.watermark(start + 1500); moved && w.DueAt > start-500 {
		t.Fatalf("W at %v, nearer to the present than the slack", w)
	}
	if w, _ := b.watermark(start + 3000); w != (store.Key{DueAt: start + 1000, UUID: timer.UUID{1}}) {
		t.Fatalf("W at %v once the slack has passed", w)
	}
}

func TestI6_WatermarkNeverGoesBack(t *testing.T) {
	b := polledWithBarrier(t, row(1, start+1000, start), row(2, start+1500, start))
	b.wantReleased(start+1000, "1")
	first := b.p.Advances(start + 3000)
	b.wantReleased(start+3000, "2")
	second := b.p.Advances(start + 60_000)
	if len(first) != 1 || len(second) != 1 || !second[0].Watermark.After(first[0].Watermark) {
		t.Fatalf("advances %v and %v, want two steps", first, second)
	}
	b.p.Advanced(second, []error{nil})
	b.p.Advanced(first, []error{nil})
	if w, moved := b.watermark(start + 60_000); moved {
		t.Errorf("W moves to %v after an answer that came late", w)
	}
	b.put(row(3, start+59_000, start))
	b.poll(start + 60_000)
	b.wantReleased(start+60_000, "3")
	if w, moved := b.watermark(start + 3200); moved {
		t.Errorf("W moves to %v after the clock was set back", w)
	}
}

func TestHandOverHoldsWatermarkAndKeysUpToP(t *testing.T) {
	b := newBench(t, limits())
	b.end = 10
	p := store.Key{DueAt: start + 900, UUID: timer.UUID{5}}
	b.put(row(5, start+900, start), row(6, start+1000, start))
	b.open(start+950, store.Key{DueAt: start - 1000}, p)
	b.poll(start + 950)
	if got := b.p.Hint(start+950, hint(row(5, start+900, start))); got != partition.HintBarred {
		t.Fatalf("hint of a key up to P: %s", got)
	}
	b.wantReleased(start+1000, "6")
	if w, moved := b.watermark(start + 60_000); moved {
		t.Fatalf("W moved to %v although P did not move", w)
	}
	// The ack floor passes the end of the queue at the claim: rows up to P that remain were lost, and are published.
	b.floor(start+1100, 10)
	b.poll(start + 1100)
	b.wantReleased(start+1100, "5")
	if _, moved := b.watermark(start + 60_000); !moved {
		t.Fatal("W does not move although P is forgotten")
	}
}

func TestBarrierThatFallsDuringAPollStartsItAnew(t *testing.T) {
	b := newBench(t, limits())
	b.end = 10
	b.put(row(5, start+100, start), row(6, start+200, start))
	b.open(start, store.MinKey(), store.Key{DueAt: start + 100, UUID: timer.UUID{5}})
	q := b.p.Poll(start)
	b.floor(start, 10)
	b.p.Polled(start, q, []store.DueShard{{Rows: []store.DueRow{row(6, start+200, start)}, NextDueAt: timer.Never}})
	b.poll(start)
	b.wantReleased(start+300, "5", "6")
}

func TestI12_ARowIsPublishedAgainOnceTheFloorHasPassedItsEvent(t *testing.T) {
	b := polled(t, row(1, start, start-10))
	b.wantReleased(start, "1") // position 1
	b.floor(start+100_000, 1)
	b.sweep(start + 100_000)
	b.wantReleased(start + 100_000)
	b.floor(start+101_000, 2) // acknowledged, as if the event had arrived before its row
	b.sweep(start + 101_000)
	b.wantReleased(start+101_000, "1")
}

func TestI12_ARowInFlightWhoseEventIsQueuedWaitsForTheLongBound(t *testing.T) {
	b := polled(t, row(1, start, start-10))
	b.wantReleased(start, "1")
	b.sweep(start + 100_000)
	b.wantReleased(start + 100_000)
	b.sweep(start + 6*60_000)
	b.wantReleased(start+6*60_000, "1")
	b.sweep(start + 6*60_000 + 2000)
	b.wantReleased(start + 6*60_000 + 2000)
}

func TestI12_RowsFromBeforeTheClaimWaitForTheFloor(t *testing.T) {
	old := row(1, start-5000, start-9000)
	written := row(2, start-4000, start+300)
	b := takenOver(t, old, written)
	b.sweep(start + 1000)
	b.wantReleased(start+1000, "2")
	b.floor(start+2000, 9)
	b.sweep(start + 2000)
	b.wantReleased(start + 2000)
	b.floor(start+3000, 10)
	b.sweep(start + 3000)
	b.wantReleased(start+3000, "1")
}

func TestI12_RowsFromBeforeTheClaimGoOutAfterTheLongBound(t *testing.T) {
	b := takenOver(t, row(1, start-5000, start-9000))
	b.sweep(start - 5001 + 6*60_000)
	b.wantReleased(start - 5001 + 6*60_000)
	b.sweep(start - 5000 + 6*60_000)
	b.wantReleased(start-5000+6*60_000, "1")
}

func TestI12_RepublishingAKeyInFlightNeedsNoRoom(t *testing.T) {
	l := limits()
	l.MaxInFlight = 2
	b := newBench(t, l)
	b.put(row(1, start, start-10), row(2, start, start-10), row(3, start+1, start-10))
	b.begin()
	b.wantReleased(start+1, "1", "2")
	// Nothing is acknowledged, and the bound is reached.
	at := start.Add(l.LongBound)
	b.sweep(at + 1)
	b.wantReleased(at+1, "1", "2")
}

func TestI12_TheSweepIsRateLimitedOldestFirst(t *testing.T) {
	l := limits()
	l.SweepPublish, l.MaxInFlight = 3, 100
	b := newBench(t, l)
	for i := range byte(8) {
		b.put(row(i+1, start-9000+timer.Millis(i), start+300))
	}
	b.open(start, store.Key{DueAt: start}, store.MinKey())
	b.sweep(start + 1000)
	b.wantReleased(start+1000, "1", "2", "3")
	b.sweep(start + 3000)
	b.wantReleased(start+3000, "4", "5", "6")
}

func TestInFlightStatesAreRemovedOnlyByAReadBegunAfterItsPublication(t *testing.T) {
	b := polledWithBarrier(t, row(1, start, start))
	batch, _ := b.p.TakeDue(start, 10, 1000)
	q := b.p.SweepStart(start)
	b.p.Published(start, batch, []bus.Position{b.position(1)})
	// The page was read before the row was committed, or before the publication.
	if _, done, _ := b.p.Swept(q, []store.OverdueShard{{}}); !done {
		t.Fatal("an empty page must end the sweep")
	}
	if b.p.InFlight() != 1 {
		t.Fatal("forgotten by a read that was begun before the publication")
	}
	b.sweep(start + 1)
	if b.p.InFlight() != 1 {
		t.Fatal("forgotten although the row exists")
	}
	b.remove(1)
	b.sweep(start + 2)
	if b.p.InFlight() != 0 {
		t.Fatal("not forgotten although the row was deleted")
	}
}

func TestInFlightStatesOfAnotherRevisionAreRemoved(t *testing.T) {
	b := polledWithBarrier(t, row(1, start, start))
	b.wantReleased(start, "1")
	b.remove(1)
	moved := row(1, start, start)
	moved.Revision = 77
	b.put(moved)
	b.sweep(start + 1)
	if b.p.InFlight() != 0 {
		t.Fatal("an older revision of the row is still in flight")
	}
}

func TestARowThatComesAfterItsEventIsPublishedAgain(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	// The hint of a write with unknown outcome: its event finds no row.
	r := row(1, start+100, start)
	b.p.Hint(start, hint(r))
	b.wantReleased(start+100, "1")
	b.floor(start+200, 2)
	b.sweep(start + 2000)
	// Now the write is applied after all. The bus remembers the first event's ID.
	b.put(r)
	b.sweep(start + 4000)
	b.poll(start + 4000)
	b.wantReleased(start+4000, "1")
}

func TestReleasesCarryTheLargestKeySent(t *testing.T) {
	b := polledWithBarrier(t, row(1, start, start), row(2, start+50, start))
	if got := b.p.ClaimReleases()[0].Published; got != store.MinKey() {
		t.Fatalf("P of an owner without publishes: %v", got)
	}
	b.p.TakeDue(start+60, 10, 1000) // the bus never answers
	if got := b.p.ClaimReleases()[0].Published; got != (store.Key{DueAt: start + 50, UUID: timer.UUID{2}}) {
		t.Fatalf("P after two were sent with unknown answer: %v", got)
	}
}

func TestAFullQueueHoldsPublishingBack(t *testing.T) {
	b := polledWithBarrier(t, row(1, start, start))
	b.p.SetFloor(start, bus.Floor{Floor: b.position(1), End: b.position(1001), Depth: 1000})
	b.wantReleased(start)
	if b.p.NextPublishAt(start, 1000) != timer.Never || !b.p.NeedsFloor() {
		t.Fatal("with a full queue no timer is released, and the floor is read")
	}
	b.p.SetFloor(start, bus.Floor{Floor: b.position(500), End: b.position(1001), Depth: 501})
	b.wantReleased(start, "1")
}

// TestLongSweepsComeLessOften: every sweep reads the rows that wait in the dispatchers' queue again.
func TestLongSweepsComeLessOften(t *testing.T) {
	l := limits()
	l.MaxInFlight, l.MaxArmed, l.PollPerShard, l.PollTotal = 100_000, 100_000, 100_000, 100_000
	const configured = 2 * time.Second
	for _, c := range []struct {
		rows int
		want time.Duration
	}{{0, configured}, {500, 3 * time.Second}, {2000, 6 * time.Second}, {9000, 10 * time.Second}} {
		b := newBench(t, l)
		b.page = 1000
		for i := range c.rows {
			r := row(byte(i>>8), start, start)
			r.Ref.UUID[1], r.Revision = byte(i), timer.Revision(i+1)
			b.put(r)
		}
		b.open(start, store.MinKey(), store.MinKey())
		b.poll(start)
		b.release(start)
		b.sweep(start + 100)
		if got := b.p.SweepPause(configured); got != c.want {
			t.Errorf("after %d rows: %v, want %v", c.rows, got, c.want)
		}
	}
	l = limits()
	l.SweepPublish = 3
	b := newBench(t, l)
	for id := byte(1); id <= 10; id++ {
		b.put(row(id, start-9000, start+300))
	}
	b.open(start, store.Key{DueAt: start}, store.MinKey())
	b.page = 1
	b.sweep(start + 1000)
	if got := b.p.SweepPause(configured); got != configured {
		t.Errorf("after a sweep that found more than SweepPublish: %v, want %v", got, configured)
	}
}
