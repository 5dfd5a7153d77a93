package storetest

import (
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func overdueTests() []test {
	return []test{
		{"I4_TheSweepKeepsNoCursor", sweepKeepsNoCursor},
		{"I4_TheSweepFindsWhatLiesBehindTheWatermark", sweepBehindWatermark},
		{"I4_TheSweepBeginsAfterFrom", sweepFrom},
		{"Overdue/RowsComeByKey", overdueOrder},
		{"Overdue/DueBeforeTheInstantAndNotAtIt", overdueBefore},
		{"Overdue/BothBoundsOfTheRange", overdueRange},
		{"Overdue/PagesBringEverythingOnce", overduePages},
		{"Overdue/TheLimitIsForAllShardsInTheOrderAsked", overdueLimit},
	}
}

// sweepKeepsNoCursor repeats the same query: a row is returned as long as it exists.
func sweepKeepsNoCursor(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	before := w.now + 2*hour
	for range 3 {
		if got := rowIDs(w.overdue(c, before).Rows); !slices.Equal(got, want) {
			w.t.Fatalf("the sweep sees %v, want %v again", got, want)
		}
	}
	// A new owner queries, after a row was written before all others.
	w.now -= hour
	early := w.putAt(place(id, 3, 3), w.now)
	w.now += hour
	c = w.claim(id)[0].Claim
	want = slices.Insert(slices.Clone(want), 0, early.UUID)
	if got := rowIDs(w.overdue(c, before).Rows); !slices.Equal(got, want) {
		w.t.Fatalf("the sweep sees %v, want %v", got, want)
	}
}

func sweepBehindWatermark(w *world) {
	id := w.ref("a").Shard
	c := w.claim(id)[0].Claim
	w.check(w.advance(c, store.MaxKeyAt(w.now+minute)), "advance")
	t := w.put("a", w.now) // before the watermark, as after a slow commit
	w.now += 2 * minute
	for _, c := range []store.Claim{c, w.claim(id)[0].Claim} {
		if w.due(c, store.MinKey(), w.now).Err != nil {
			c = w.claim(id)[0].Claim
		}
		if got := w.overdue(c, w.now).Rows; len(got) != 1 || got[0].Ref.UUID != t.UUID {
			w.t.Errorf("the sweep sees %+v, want the row behind the watermark", got)
		}
		if got := w.due(c, store.MinKey(), w.now).Rows; len(got) != 1 {
			w.t.Errorf("a poll from the beginning sees %+v, want the row behind the watermark", got)
		}
	}
}

// sweepFrom starts at sweep floors, between rows and after all of them: rows up to From are not returned.
func sweepFrom(w *world) {
	id := w.ns.Shards.Base
	c := w.claim(id)[0].Claim
	first, last := w.putAt(place(id, 1, 1), w.now), w.putAt(place(id, 2, 2), w.now+minute)
	for _, from := range []struct {
		key  store.Key
		want []timer.UUID
	}{
		{store.MaxKeyAt(first.DueAt - 1), []timer.UUID{first.UUID, last.UUID}},
		{store.MaxKeyAt(first.DueAt), []timer.UUID{last.UUID}},
		{store.MaxKeyAt(last.DueAt), nil},
	} {
		got := w.overdueAll(store.OverdueQuery{
			Shards: []store.OverdueRange{{Claim: c, From: from.key, Upto: store.MaxKeyAt(timer.MaxMillis)}},
			Before: w.now + hour, Limit: 1000,
		})[0]
		if !slices.Equal(rowIDs(got.Rows), from.want) || got.More {
			w.t.Errorf("from %v the sweep sees %v (more: %t), want %v", from.key, rowIDs(got.Rows), got.More, from.want)
		}
	}
}

func overdueOrder(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	got := w.overdue(c, w.now+2*hour)
	if !slices.Equal(rowIDs(got.Rows), want) || got.More {
		w.t.Errorf("the sweep sees %v (more: %t), want %v", rowIDs(got.Rows), got.More, want)
	}
	w.equal("rows", got.Rows, w.due(c, store.MinKey(), w.now+2*hour).Rows)
}

func overdueBefore(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	for before, n := range map[timer.Millis]int{
		w.now - 1: 0, w.now: 0, w.now + 1: 7, w.now + 2: 9, w.now + 3: 12, w.now + hour: 13, w.now + hour + 1: 14,
	} {
		got := w.overdueAll(store.OverdueQuery{
			Shards: []store.OverdueRange{{Claim: c, From: store.MinKey(), Upto: store.MaxKeyAt(timer.MaxMillis)}},
			Before: before, Limit: 1000,
		})[0]
		if !slices.Equal(rowIDs(got.Rows), want[:n]) || got.More {
			w.t.Errorf("before %s: %d rows (more: %t), want %d", before, len(got.Rows), got.More, n)
		}
	}
}

func overdueRange(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	all := w.overdue(c, w.now+2*hour).Rows
	if len(all) != len(want) {
		w.t.Fatalf("the sweep sees %d rows, want %d", len(all), len(want))
	}
	for i := range all {
		for j := i; j < len(all); j++ {
			got := w.overdueAll(store.OverdueQuery{
				Shards: []store.OverdueRange{{Claim: c, From: all[i].Key(), Upto: all[j].Key()}},
				Before: w.now + 2*hour, Limit: 1000,
			})[0]
			if !slices.Equal(rowIDs(got.Rows), want[i+1:j+1]) || got.More {
				w.t.Fatalf("behind row %d up to row %d: %v (more: %t)", i, j, rowIDs(got.Rows), got.More)
			}
		}
	}
	// A range before all rows is empty: W and R of a shard that was never claimed.
	got := w.overdueAll(store.OverdueQuery{
		Shards: []store.OverdueRange{{Claim: c, From: store.MinKey(), Upto: store.MinKey()}},
		Before: w.now + 2*hour, Limit: 1000,
	})[0]
	if len(got.Rows) != 0 || got.More {
		w.t.Errorf("up to MinKey: %+v", got)
	}
}

func overduePages(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	for limit := 1; limit <= len(want)+1; limit++ {
		var seen []timer.UUID
		from := store.MinKey()
		for {
			got := w.overdueAll(store.OverdueQuery{
				Shards: []store.OverdueRange{{Claim: c, From: from, Upto: store.MaxKeyAt(w.now + hour)}},
				Before: w.now + 2*hour, Limit: limit,
			})[0]
			seen = append(seen, rowIDs(got.Rows)...)
			if len(got.Rows) > limit || got.More != (len(seen) < len(want)) {
				w.t.Fatalf("limit %d: a page of %d rows, more %t, %d seen", limit, len(got.Rows), got.More, len(seen))
			}
			if !got.More {
				break
			}
			from = got.Rows[len(got.Rows)-1].Key()
		}
		if !slices.Equal(seen, want) {
			w.t.Fatalf("limit %d: pages bring %v, want %v", limit, seen, want)
		}
	}
}

func overdueLimit(w *world) {
	const each = 3
	shards := w.allShards()
	for i, id := range shards {
		if i == 1 {
			continue // an empty shard in between
		}
		for j := range each {
			w.putAt(place(id, byte(j), byte(i)), w.now)
		}
	}
	claimed := w.claim(shards...)
	slices.Reverse(claimed)
	for limit := 1; limit <= 10; limit++ {
		q := store.OverdueQuery{Before: w.now + 1, Limit: limit}
		for _, c := range claimed {
			q.Shards = append(q.Shards, store.OverdueRange{Claim: c.Claim, From: store.MinKey(), Upto: store.MaxKeyAt(w.now)})
		}
		room := limit
		var got, want []string
		for i, o := range w.overdueAll(q) {
			have := each
			if i == 2 {
				have = 0
			}
			n := min(room, have)
			room -= n
			got = append(got, fmt.Sprintf("%d rows, more %t", len(o.Rows), o.More))
			want = append(want, fmt.Sprintf("%d rows, more %t", n, n < have))
		}
		w.equal(fmt.Sprintf("limit %d", limit), got, want)
	}
}
