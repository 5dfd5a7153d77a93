package storetest

import (
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func claimTests() []test {
	return []test{
		{"Claim/ANewShardStartsBeforeEverything", claimNewShard},
		{"Claim/TakesOverWithTheNextVersion", claimTakesOver},
		{"Claim/EachShardByItself", claimEachByItself},
		{"Claim/KeepsWatermarkAndPublished", claimKeeps},
		{"Release/RaisesPublishedAndNeverLowersIt", releaseRaises},
		{"I5_OnlyTheNewestClaimMovesTheShardOrLearnsOfIt", onlyTheNewestClaim},
		{"I5_AClaimComparesVersionAndOwner", claimComparesBoth},
		{"I5_AReleasedClaimIsFencedToo", releasedClaim},
		{"I5_AShardThatNobodyClaimedIsFenced", unclaimedShard},
		{"I5_AFencedItemLeavesTheOthersAlone", fencedItem},
	}
}

func claimNewShard(w *world) {
	for _, c := range w.claim(w.allShards()...) {
		if c.Watermark != store.MinKey() || c.Published != store.MinKey() {
			w.t.Errorf("new shard %s starts at W %v, P %v; want MinKey", c.Claim.Shard, c.Watermark, c.Published)
		}
		if c.Claim.Version < 1 {
			w.t.Errorf("version of the first claim is %d", c.Claim.Version)
		}
	}
}

func claimTakesOver(w *world) {
	id := w.ns.Shards.Base
	first, second := w.owner(), w.owner()
	version := w.claimAs(first, id)[0].Claim.Version
	for i, owner := range []store.Owner{second, second, first} {
		version++
		got := w.claimAs(owner, id)[0].Claim
		if want := (store.Claim{Shard: id, Version: version, Owner: owner.Incarnation}); got != want {
			w.t.Errorf("take-over %d gives %+v, want %+v", i, got, want)
		}
	}
}

func claimEachByItself(w *world) {
	base := w.ns.Shards.Base
	first := w.claim(base, base+1, base+2)
	w.claim(base + 1)
	again := w.claim(base+2, base+1, base)
	for i, want := range []int64{first[2].Claim.Version + 1, first[1].Claim.Version + 2, first[0].Claim.Version + 1} {
		if again[i].Claim.Version != want {
			w.t.Errorf("shard %s has version %d, want %d", again[i].Claim.Shard, again[i].Claim.Version, want)
		}
	}
}

func claimKeeps(w *world) {
	id := w.ns.Shards.Base
	key := func(at timer.Millis, b byte) store.Key {
		return store.Key{DueAt: w.now + at, UUID: timer.UUID{b, 0xff}}
	}
	c := w.claim(id)[0].Claim
	w.check(w.advance(c, key(5, 0x80)), "advance")
	w.check(w.release(c, key(9, 0xfe)), "release")
	for range 2 {
		got := w.claim(id)[0]
		if got.Watermark != key(5, 0x80) || got.Published != key(9, 0xfe) {
			w.t.Errorf("claim finds W %v, P %v; want %v, %v", got.Watermark, got.Published, key(5, 0x80), key(9, 0xfe))
		}
	}
}

func (w *world) advance(c store.Claim, to store.Key) error {
	w.t.Helper()
	errs, err := w.store.Advance(w.ctx, w.now, []store.Advance{{Claim: c, Watermark: to}})
	w.check(err, "advance")
	return errs[0]
}

func (w *world) release(c store.Claim, published store.Key) error {
	w.t.Helper()
	errs, err := w.store.Release(w.ctx, w.now, []store.Release{{Claim: c, Published: published}})
	w.check(err, "release")
	return errs[0]
}

func releaseRaises(w *world) {
	id := w.ns.Shards.Base
	key := func(at timer.Millis, b byte) store.Key { return store.Key{DueAt: w.now + at, UUID: timer.UUID{b}} }
	for _, c := range []struct{ released, want store.Key }{
		{key(5, 0x7f), key(5, 0x7f)},
		{store.MinKey(), key(5, 0x7f)}, // nothing was sent
		{key(5, 0x7e), key(5, 0x7f)},
		{key(5, 0x80), key(5, 0x80)}, // uuids are ordered as unsigned bytes
		{key(4, 0xff), key(5, 0x80)},
		{key(6, 0x00), key(6, 0x00)},
	} {
		claim := w.claim(id)[0].Claim
		w.check(w.release(claim, c.released), "release")
		got := w.claim(id)[0]
		if got.Published != c.want {
			w.t.Fatalf("released with P %v: the next owner finds %v, want %v", c.released, got.Published, c.want)
		}
		if got.Watermark != store.MinKey() {
			w.t.Fatalf("a release moved the watermark to %v", got.Watermark)
		}
	}
}

// scheduling runs every fenced statement and returns their errors.
func (w *world) scheduling(c store.Claim) map[string]error {
	w.t.Helper()
	due := w.due(c, store.MinKey(), timer.MaxMillis)
	overdue := w.overdue(c, timer.MaxMillis)
	for what, err := range map[string]error{"Due": due.Err, "Overdue": overdue.Err} {
		if err != nil && len(due.Rows)+len(overdue.Rows) != 0 || overdue.More && overdue.Err != nil {
			w.t.Errorf("%s is fenced and still tells: %+v, %+v", what, due, overdue)
		}
	}
	if due.Err != nil && (due.Cut || due.NextDueAt != 0 && due.NextDueAt != timer.Never) {
		w.t.Errorf("Due is fenced and still tells when the next row is due: %+v", due)
	}
	return map[string]error{
		"Due":     due.Err,
		"Overdue": overdue.Err,
		"Advance": w.advance(c, store.MaxKeyAt(w.now+10*hour)),
		"Release": w.release(c, store.MaxKeyAt(w.now+10*hour)),
	}
}

// wantFenced fails unless all fenced statements return ErrFenced.
func (w *world) wantFenced(what string, c store.Claim) {
	w.t.Helper()
	for statement, err := range w.scheduling(c) {
		w.wantErr(err, store.ErrFenced, "%s under %s", statement, what)
	}
}

// wantUntouched claims the shard, and fails if a watermark or Published has changed.
func (w *world) wantUntouched(id shard.ID) store.Claim {
	w.t.Helper()
	got := w.claim(id)[0]
	if got.Watermark != store.MinKey() || got.Published != store.MinKey() {
		w.t.Errorf("fenced statements wrote: W %v, P %v", got.Watermark, got.Published)
	}
	return got.Claim
}

// wantAdmitted fails unless all fenced statements succeed, which releases the claim.
func (w *world) wantAdmitted(what string, c store.Claim) {
	w.t.Helper()
	for statement, err := range w.scheduling(c) {
		w.check(err, "%s under %s", statement, what)
	}
}

func onlyTheNewestClaim(w *world) {
	w.put("a", w.now)
	id := w.ref("a").Shard
	owner := w.owner()
	oldest := w.claimAs(owner, id)[0].Claim
	older := w.claim(id)[0].Claim
	newest := w.claimAs(owner, id)[0].Claim // the first owner again
	w.wantFenced("the oldest claim", oldest)
	w.wantFenced("the second claim", older)
	if fresh := w.due(newest, store.MinKey(), w.now); fresh.Err != nil || len(fresh.Rows) != 1 {
		w.t.Fatalf("the newest claim learns %+v", fresh)
	}
	w.wantAdmitted("the newest claim", w.wantUntouched(id))
	w.wantFenced("the claim that was newest", newest)
}

func claimComparesBoth(w *world) {
	w.put("a", w.now)
	id := w.ref("a").Shard
	w.claim(id)
	c := w.claim(id)[0].Claim
	for what, wrong := range map[string]store.Claim{
		"another owner":         {Shard: id, Version: c.Version, Owner: w.owner().Incarnation},
		"no owner":              {Shard: id, Version: c.Version},
		"the version before":    {Shard: id, Version: c.Version - 1, Owner: c.Owner},
		"the version to come":   {Shard: id, Version: c.Version + 1, Owner: c.Owner},
		"nothing but a shard":   {Shard: id},
		"another shard's claim": {Shard: id + 1, Version: c.Version, Owner: c.Owner},
	} {
		w.wantFenced(what, wrong)
	}
	if err := w.due(c, store.MinKey(), w.now).Err; err != nil {
		w.t.Errorf("due under the claim itself: %v", err)
	}
	w.wantAdmitted("the next claim", w.wantUntouched(id))
}

func releasedClaim(w *world) {
	w.put("a", w.now)
	id := w.ref("a").Shard
	owner := w.owner()
	c := w.claimAs(owner, id)[0].Claim
	w.check(w.release(c, store.MinKey()), "release")
	for what, held := range map[string]store.Claim{
		"a released claim":    c,
		"a claim of nobody":   {Shard: id, Version: c.Version},
		"the version to come": {Shard: id, Version: c.Version + 1, Owner: c.Owner},
	} {
		w.wantFenced(what, held)
	}
	again := w.claimAs(owner, id)[0].Claim
	if again.Version != c.Version+1 {
		w.t.Errorf("claimed again as version %d, want %d", again.Version, c.Version+1)
	}
	w.wantAdmitted("the claim after a release", again)
}

func unclaimedShard(w *world) {
	w.put("a", w.now)
	for _, id := range []shard.ID{w.ref("a").Shard, w.ns.Shards.Base + 3, 4_000_000} {
		for _, c := range []store.Claim{{Shard: id}, {Shard: id, Version: 1, Owner: w.owner().Incarnation}} {
			w.wantFenced("a claim of an unclaimed shard", c)
		}
	}
}

func fencedItem(w *world) {
	for _, id := range w.allShards() {
		for i := range byte(3) {
			w.putAt(place(id, i, byte(id)), w.now)
		}
	}
	claimed := w.claim(w.allShards()...)
	w.claim(claimed[1].Claim.Shard) // another owner claims one of them
	due := store.DueQuery{Horizon: w.now, PerShard: 100, Total: 100}
	overdue := store.OverdueQuery{Before: w.now + 1, Limit: 100}
	var advance []store.Advance
	var release []store.Release
	for _, c := range claimed {
		due.Shards = append(due.Shards, store.DueAfter{Claim: c.Claim, After: store.MinKey()})
		overdue.Shards = append(overdue.Shards, store.OverdueRange{Claim: c.Claim, From: store.MinKey(), Upto: store.MaxKeyAt(w.now)})
		advance = append(advance, store.Advance{Claim: c.Claim, Watermark: store.MaxKeyAt(w.now - 1)})
		release = append(release, store.Release{Claim: c.Claim, Published: store.MaxKeyAt(w.now)})
	}
	rows := 0
	answers := map[string][]error{"Due": nil, "Overdue": nil}
	for _, d := range w.dueAll(due) {
		answers["Due"] = append(answers["Due"], d.Err)
		rows += len(d.Rows)
	}
	for _, d := range w.overdueAll(overdue) {
		answers["Overdue"] = append(answers["Overdue"], d.Err)
		rows += len(d.Rows)
	}
	if want := 2 * 3 * (len(claimed) - 1); rows != want {
		w.t.Errorf("Due and Overdue show %d rows, want %d: three of each shard but the fenced one", rows, want)
	}
	var err error
	answers["Advance"], err = w.store.Advance(w.ctx, w.now, advance)
	w.check(err, "advance")
	answers["Release"], err = w.store.Release(w.ctx, w.now, release)
	w.check(err, "release")
	for statement, errs := range answers {
		for i, err := range errs {
			var want error
			if i == 1 {
				want = store.ErrFenced
			}
			w.wantErr(err, want, "%s of shard %d", statement, i)
		}
	}
	for i, c := range w.claim(w.allShards()...) {
		if moved := c.Watermark != store.MinKey() && c.Published != store.MinKey(); moved != (i != 1) {
			w.t.Errorf("shard %d: W %v, P %v", i, c.Watermark, c.Published)
		}
	}
}
