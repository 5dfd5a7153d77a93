package storetest

import (
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func inspectTests() []test {
	return []test{
		{"Inspect/TellsWhoHoldsAShardAndHowFarItIs", inspectHeld},
		{"Inspect/AReleasedClaimIsNotHeld", inspectReleased},
		{"Inspect/TellsWhenTheNextRowIsDue", inspectNextDue},
		{"Inspect/AShardThatNobodyClaimed", inspectUnclaimed},
	}
}

func (w *world) inspect(shards ...shard.ID) []store.ShardState {
	w.t.Helper()
	out, err := w.store.Inspect(w.ctx, shards)
	w.check(err, "inspect")
	if len(out) != len(shards) {
		w.t.Fatalf("inspect answers for %d of %d shards", len(out), len(shards))
	}
	return out
}

func inspectHeld(w *world) {
	base := w.ns.Shards.Base
	owner := w.owner()
	w.claimAs(w.owner(), base, base+1)
	claim := w.claimAs(owner, base+1)[0].Claim
	claimedAt := w.now
	w.now += 1000
	watermark := store.Key{DueAt: w.now + 7, UUID: timer.UUID{0xfe, 1}}
	w.check(w.advance(claim, watermark), "advance")
	got := w.inspect(base+1, base)
	w.equal("the shard asked first", got[0], store.ShardState{
		Shard: base + 1, Version: claim.Version, Owner: owner, ClaimedAt: claimedAt, Held: true,
		Watermark: watermark, Published: store.MinKey(), NextDueAt: timer.Never,
	})
	if got[1].Shard != base || got[1].Version != claim.Version-1 || got[1].Owner.Incarnation == owner.Incarnation {
		w.t.Errorf("the shard asked second is %+v", got[1])
	}
}

func inspectReleased(w *world) {
	id := w.ns.Shards.Base
	owner := w.owner()
	claim := w.claimAs(owner, id)[0].Claim
	published := store.Key{DueAt: w.now + 9, UUID: timer.UUID{0x80}}
	w.check(w.release(claim, published), "release")
	w.equal("the released shard", w.inspect(id)[0], store.ShardState{
		Shard: id, Version: claim.Version, Owner: store.Owner{Node: owner.Node}, ClaimedAt: w.now,
		Watermark: store.MinKey(), Published: published, NextDueAt: timer.Never,
	})
	w.claim(id)
	if got := w.inspect(id)[0]; !got.Held || got.Version != claim.Version+1 {
		w.t.Errorf("after the next claim the shard is %+v", got)
	}
}

func inspectNextDue(w *world) {
	id := w.ns.Shards.Base
	in := func(b byte) store.Ref { return store.Ref{Shard: id, UUID: timer.UUID{b}} }
	parked := w.putAt(in(1), w.now+1000)
	w.putAt(in(3), w.now+3000)
	w.putAt(in(2), w.now+2000)
	park := w.finishOp(&parked, store.FinishParked)
	park.Ref = in(1)
	w.check(w.finish(park), "park")
	w.putAt(store.Ref{Shard: id + 1, UUID: timer.UUID{4}}, w.now+500)
	if got := w.inspect(id)[0].NextDueAt; got != w.now+2000 {
		w.t.Errorf("the next row is due at %v, want %v", got, w.now+2000)
	}
}

func inspectUnclaimed(w *world) {
	const far = shard.ID(1 << 20)
	w.equal("a shard without a record", w.inspect(far)[0], store.ShardState{
		Shard: far, Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never,
	})
}
