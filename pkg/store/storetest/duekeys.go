package storetest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func dueKeysTests() []test {
	return []test{
		{"DueKeys/InOrderOverAllShards", dueKeysInOrder},
		{"DueKeys/OfScheduledAndRetryingTimersOfTheNamespace", dueKeysOfStatus},
		{"DueKeys/AShardWithMostOfTheTimers", dueKeysSkewed},
		{"List/InDueOrder", listInDueOrder},
		{"List/InDueOrderByStatus", listInDueOrderByStatus},
		{"List/InDueOrderIsStable", listInDueOrderStable},
		{"List/InDueOrderAPageIsBoundedInBytes", listInDueOrderBytes},
		{"List/InDueOrderForeignCursorsAreErrInvalid", listInDueOrderCursor},
	}
}

// dueKeys returns the keys of all pages.
func (w *world) dueKeys(q store.DueKeysQuery) []store.DueKey {
	w.t.Helper()
	q.Namespace = w.ns
	var out []store.DueKey
	for range maxPages {
		page, err := w.store.DueKeys(w.ctx, q)
		w.check(err, "read keys")
		if len(page.Keys) > q.Limit || page.More && len(page.Keys) == 0 {
			w.t.Fatalf("a page of %d keys, more %v, the limit is %d", len(page.Keys), page.More, q.Limit)
		}
		out = append(out, page.Keys...)
		if !page.More {
			return out
		}
		q.After = page.Keys[len(page.Keys)-1].Key
	}
	w.t.Fatalf("the walk did not end within %d pages", maxPages)
	return nil
}

// putMany creates timers with several due times, each of which many timers share, and returns their keys in order.
func (w *world) putMany(n int) []store.DueKey {
	w.t.Helper()
	var ops []store.Op
	for i := range n {
		ops = append(ops, w.putOp(fmt.Sprint("timer ", i), w.now+timer.Millis(i*7%5)*minute))
	}
	var keys []store.DueKey
	for _, out := range w.writeAll(ops...) {
		t := out.Timer
		keys = append(keys, store.DueKey{Key: store.Key{DueAt: t.DueAt, UUID: t.UUID}, Shard: refIn(w.ns, t.ID).Shard})
	}
	slices.SortFunc(keys, func(a, b store.DueKey) int { return a.Compare(b.Key) })
	return keys
}

func dueKeysInOrder(w *world) {
	w.equal("keys of no timers", len(w.dueKeys(store.DueKeysQuery{After: store.MinKey(), Limit: 10})), 0)
	keys := w.putMany(200)
	for _, limit := range []int{1, 7, 199, 200, 201, store.MaxDueKeys} {
		w.equal(fmt.Sprint("keys, limit ", limit), w.dueKeys(store.DueKeysQuery{After: store.MinKey(), Limit: limit}), keys)
	}
	// A part between two keys with the same due time as others.
	before := w.now + 3*minute
	part := slices.DeleteFunc(slices.Clone(keys), func(k store.DueKey) bool { return !k.After(keys[50].Key) || k.DueAt >= before })
	w.equal("keys of a part", w.dueKeys(store.DueKeysQuery{After: keys[50].Key, Before: before, Limit: 10}), part)
	w.equal("keys of an empty part", len(w.dueKeys(store.DueKeysQuery{After: keys[199].Key, Before: before, Limit: 10})), 0)
}

func dueKeysOfStatus(w *world) {
	w.oneOfEach()
	other := *w
	other.ns = w.namespace("other", 2)
	other.put("x", w.now)
	var got []timer.UUID
	for _, k := range w.dueKeys(store.DueKeysQuery{After: store.MinKey(), Limit: 10}) {
		got = append(got, k.UUID)
	}
	want := []timer.UUID{w.ref("scheduled").UUID, w.ref("retrying").UUID} // the retry is due later
	w.equal("keys", got, want)
}

// dueKeysSkewed: a page ends before a key that it may have missed in a shard that has most of the timers.
func dueKeysSkewed(w *world) {
	var keys []store.DueKey
	for i := range 150 {
		ref := store.Ref{Shard: w.ns.Shards.Base, UUID: timer.UUIDOf("skewed", fmt.Sprint(i))}
		if i%10 == 9 {
			ref.Shard++
		}
		t := w.putAt(ref, w.now+timer.Millis(i)*second)
		keys = append(keys, store.DueKey{Key: store.Key{DueAt: t.DueAt, UUID: t.UUID}, Shard: ref.Shard})
	}
	for _, limit := range []int{1, 20, 64, 1000} {
		w.equal(fmt.Sprint("keys, limit ", limit), w.dueKeys(store.DueKeysQuery{After: store.MinKey(), Limit: limit}), keys)
	}
}

func (w *world) listedKeys(q store.ListQuery) []store.DueKey {
	w.t.Helper()
	q.InDueOrder = true
	var keys []store.DueKey
	for _, t := range w.list(q) {
		keys = append(keys, store.DueKey{Key: store.Key{DueAt: t.DueAt, UUID: t.UUID}, Shard: refIn(w.ns, t.ID).Shard})
	}
	return keys
}

func listInDueOrder(w *world) {
	w.equal("list of no timers", len(w.listedKeys(store.ListQuery{Limit: 10})), 0)
	keys := w.putMany(120)
	parked, _ := w.row(w.ref("timer 119"))
	w.move(&parked, store.FinishParked)
	keys = slices.DeleteFunc(keys, func(k store.DueKey) bool { return k.UUID == parked.UUID })
	for _, limit := range []int{1, 50, 119, 120, 1000} {
		w.equal(fmt.Sprint("list, limit ", limit), w.listedKeys(store.ListQuery{Limit: limit}), keys)
	}
	from, before := w.now+minute, w.now+3*minute
	part := slices.DeleteFunc(slices.Clone(keys), func(k store.DueKey) bool { return k.DueAt < from || k.DueAt >= before })
	w.equal("list of a range", w.listedKeys(store.ListQuery{Limit: 9, DueFrom: from, DueBefore: before}), part)
	first := w.list(store.ListQuery{Limit: 1000, InDueOrder: true})[0]
	w.equal("the first timer", first, w.mustGet(w.ref(first.ID)))
}

func listInDueOrderByStatus(w *world) {
	w.oneOfEach()
	for _, s := range []timer.Status{timer.StatusScheduled, timer.StatusRetrying} {
		w.equal(string(s), ids(w.list(store.ListQuery{InDueOrder: true, Status: s, Limit: 1})), []string{string(s)})
	}
}

// listInDueOrderStable: timers that move during the walk do not affect those that stay, and many timers with the same due
// time are listed once each.
func listInDueOrderStable(w *world) {
	var want []string
	for i := range 40 {
		id := fmt.Sprint("stays ", i)
		w.put(id, w.now+hour+timer.Millis(i/10)*minute)
		want = append(want, id)
		w.put(fmt.Sprint("moves ", i), w.now+hour+timer.Millis(i/10)*minute)
	}
	slices.Sort(want)
	step := 0
	seen := w.listBetween(store.ListQuery{InDueOrder: true, Limit: 3}, func() {
		at := w.now + hour + timer.Millis(step%4)*minute
		if step < 40 {
			w.check(w.update(w.ref(fmt.Sprint("moves ", 39-step)), timer.Patch{ExecuteAt: &at}).Err, "update")
		}
		step++
	})
	var stayed []string
	for _, id := range ids(seen) {
		if id[0] == 's' {
			stayed = append(stayed, id)
		}
	}
	if !slices.Equal(stayed, want) {
		w.t.Errorf("a walk saw %d of the timers that did not move, want each of %d once: %q", len(stayed), len(want), stayed)
	}
}

func listInDueOrderBytes(w *world) {
	const n = 90
	payload := append(append([]byte{'"'}, bytes.Repeat([]byte{'x'}, timer.MaxPayload-2)...), '"')
	var ops []store.Op
	for i := range n {
		op := w.putOp(fmt.Sprint("large ", i), w.now+timer.Millis(i))
		op.Spec.Payload = payload
		ops = append(ops, op)
	}
	for some := range slices.Chunk(ops, 30) {
		w.writeAll(some...)
	}
	q := store.ListQuery{Namespace: w.ns, InDueOrder: true, Limit: 1000}
	var all []string
	for range n {
		page, err := w.store.List(w.ctx, w.now, q)
		w.check(err, "list")
		sum := 0
		for i := range page.Timers {
			sum += len(page.Timers[i].Payload)
			all = append(all, page.Timers[i].ID)
		}
		if sum > store.MaxPageBytes {
			w.t.Errorf("a page has %d bytes of payload, at most %d are allowed", sum, store.MaxPageBytes)
		}
		if q.After = page.Next; len(page.Next) == 0 {
			break
		}
	}
	if len(all) != n || all[0] != "large 0" || all[n-1] != fmt.Sprint("large ", n-1) {
		w.t.Errorf("%d timers listed, want %d: %q", len(all), n, all)
	}
	q.After, q.WithoutPayloads = nil, true
	page, err := w.store.List(w.ctx, w.now, q)
	w.check(err, "list")
	if len(page.Timers) != n || page.Timers[0].Payload != nil {
		w.t.Errorf("%d timers without payloads on a page, want %d", len(page.Timers), n)
	}
}

func listInDueOrderCursor(w *world) {
	for i := range 10 {
		w.put(fmt.Sprint(i), w.now)
	}
	q := store.ListQuery{Namespace: w.ns, InDueOrder: true, Limit: 2}
	page, err := w.store.List(w.ctx, w.now, q)
	w.check(err, "list")
	byKey, err := w.store.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 2})
	w.check(err, "list")
	changed := slices.Clone(page.Next)
	changed[len(changed)-1] ^= 1
	for what, cursor := range map[string]store.Cursor{
		"of another order": byKey.Next, "cut off": page.Next[:len(page.Next)-1], "changed": changed, "garbage": store.Cursor("garbage"),
	} {
		q.After = cursor
		_, err := w.store.List(w.ctx, w.now, q)
		w.wantErr(err, store.ErrInvalid, "list after a cursor that is %s", what)
	}
	_, err = w.store.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 2, After: page.Next})
	w.wantErr(err, store.ErrInvalid, "list by key after a cursor in due order")
}
