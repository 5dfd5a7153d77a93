package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func advanceTests() []test {
	return []test{
		{"I6_TheWatermarkNeverGoesBack", advanceNeverBack},
		{"Advance/DoesNotTouchPublished", advanceLeavesPublished},
		{"Advance/IsOfOneShard", advanceOneShard},
		{"Advance/RemovesNoRow", advanceRemovesNoRow},
	}
}

func advanceNeverBack(w *world) {
	id := w.ns.Shards.Base
	key := func(at timer.Millis, b byte) store.Key { return store.Key{DueAt: w.now + at, UUID: timer.UUID{b}} }
	claim := w.claim(id)[0].Claim
	for _, c := range []struct{ to, want store.Key }{
		{key(-hour, 0), key(-hour, 0)},
		{key(5, 0x7f), key(5, 0x7f)},
		{key(5, 0x7f), key(5, 0x7f)},
		{key(5, 0x7e), key(5, 0x7f)},
		{key(4, 0xff), key(5, 0x7f)},
		{store.MinKey(), key(5, 0x7f)},
		{key(5, 0x80), key(5, 0x80)}, // uuids are ordered as unsigned bytes
		{key(5, 0xff), key(5, 0xff)},
		{key(6, 0x00), key(6, 0x00)},
	} {
		if err := w.advance(claim, c.to); err != nil {
			w.t.Fatalf("advance to %v: %v, want nil even if it changes nothing", c.to, err)
		}
		got := w.claim(id)[0]
		if got.Watermark != c.want {
			w.t.Fatalf("advanced to %v: the next owner finds %v, want %v", c.to, got.Watermark, c.want)
		}
		claim = got.Claim
	}
}

func advanceLeavesPublished(w *world) {
	id := w.ns.Shards.Base
	published := store.MaxKeyAt(w.now + second)
	w.check(w.release(w.claim(id)[0].Claim, published), "release")
	for _, to := range []store.Key{store.MaxKeyAt(w.now), store.MaxKeyAt(w.now + hour)} {
		w.check(w.advance(w.claim(id)[0].Claim, to), "advance")
		if got := w.claim(id)[0]; got.Published != published || got.Watermark != to {
			w.t.Errorf("advanced to %v: W %v, P %v; want P %v", to, got.Watermark, got.Published, published)
		}
	}
}

func advanceOneShard(w *world) {
	claimed := w.claim(w.allShards()...)
	w.check(w.advance(claimed[2].Claim, store.MaxKeyAt(w.now)), "advance")
	for i, c := range w.claim(w.allShards()...) {
		if want := i == 2; (c.Watermark != store.MinKey()) != want {
			w.t.Errorf("shard %d is at %v", i, c.Watermark)
		}
	}
}

// advanceRemovesNoRow: timers up to the watermark are published, not finished, and the sweep reads their rows. An
// engine that deletes rows by a range loses timers here.
func advanceRemovesNoRow(w *world) {
	var states []timer.Timer
	for i := range 12 {
		states = append(states, w.put(fmt.Sprint(i), w.now+timer.Millis(i)))
	}
	w.now += minute
	for _, c := range w.claim(w.allShards()...) {
		w.check(w.advance(c.Claim, store.MaxKeyAt(w.now)), "advance")
		w.check(w.release(c.Claim, store.MaxKeyAt(w.now)), "release")
	}
	for _, t := range states {
		w.wantRow(w.ref(t.ID), &t)
	}
	seen := 0
	for _, c := range w.claim(w.allShards()...) {
		seen += len(w.overdue(c.Claim, w.now).Rows)
	}
	if seen != len(states) {
		w.t.Errorf("the sweep sees %d rows behind the watermark, want %d", seen, len(states))
	}
}
