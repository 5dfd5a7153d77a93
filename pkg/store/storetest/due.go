package storetest

import (
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func dueTests() []test {
	return []test{
		{"Due/RowsComeByKey", dueOrder},
		{"Due/TellsWhatTheSchedulerNeeds", dueRow},
		{"Due/ReturnsTheTargetOfThePresentState", dueTarget},
		{"Due/BeginsBehindTheCursor", dueCursor},
		{"Due/EndsAtTheHorizon", dueHorizon},
		{"Due/PerShardLimit", duePerShard},
		{"Due/TotalLimitInTheOrderAsked", dueTotal},
		{"Due/NextDueAtIsTheFirstRowBehind", dueNext},
		{"Due/ParkedRowsAreNotThere", dueParked},
		{"Due/FollowsEveryMove", dueFollows},
		{"Due/AsksOnlyTheShardsAsked", dueOtherShards},
	}
}

// place returns a row's address with a constructed uuid, to choose the order of uuids.
func place(id shard.ID, first, last byte) store.Ref {
	u := timer.UUID{0: first, 6: 0x50, 8: 0x80, 15: last}
	return store.Ref{Shard: id, UUID: u}
}

// unsorted writes rows into a shard, several of them due at the same time, in no order, and returns their uuids in the
// order of their keys. uuids are ordered as unsigned bytes.
func (w *world) unsorted(id shard.ID) []timer.UUID {
	w.t.Helper()
	type row struct {
		at          timer.Millis
		first, last byte
	}
	want := []row{
		{0, 0x00, 1},
		{0, 0x7f, 0xff},
		{0, 0x80, 0},
		{0, 0x80, 1},
		{0, 0x80, 0x7f},
		{0, 0x80, 0x80},
		{0, 0xff, 0},
		{1, 0x01, 0},
		{1, 0xfe, 0},
		{2, 0x00, 0},
		{2, 0x0a, 0},
		{2, 0xa0, 0},
		{minute, 0, 7},
		{hour, 0xff, 0xff},
	}
	for _, i := range []int{5, 0, 13, 9, 2, 7, 11, 4, 12, 1, 8, 6, 3, 10} {
		w.putAt(place(id, want[i].first, want[i].last), w.now+want[i].at)
	}
	out := make([]timer.UUID, len(want))
	for i, r := range want {
		out[i] = place(id, r.first, r.last).UUID
	}
	return out
}

func dueOrder(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	got := w.due(w.claim(id)[0].Claim, store.MinKey(), w.now+hour)
	if !slices.Equal(rowIDs(got.Rows), want) {
		w.t.Errorf("rows come as %v, want %v", rowIDs(got.Rows), want)
	}
	if got.Cut || got.NextDueAt != timer.Never {
		w.t.Errorf("all were read, but cut is %t and the next is due at %s", got.Cut, got.NextDueAt)
	}
}

func dueRow(w *world) {
	t := w.used("a")
	w.now += second
	check := func() {
		w.t.Helper()
		want := store.DueRow{
			Ref: w.ref("a"), Revision: t.Revision, Generation: t.Generation, Attempt: t.Attempts + 1,
			DueAt: t.DueAt, UpdatedAt: t.UpdatedAt, Target: t.Target(),
		}
		c := w.claim(w.ref("a").Shard)[0].Claim
		rows := w.due(c, store.MinKey(), t.DueAt).Rows
		w.equal("due", rows, []store.DueRow{want})
		w.equal("overdue", w.overdue(c, t.DueAt+1).Rows, rows)
	}
	check()
	t = w.move(&t, store.FinishPostponed)
	check()
	t = w.move(&t, store.FinishRetry)
	check()
	t = w.move(&t, store.FinishRescheduled)
	check()
}

// dueTarget: dispatchers apply their limits by the target before they read the row.
func dueTarget(w *world) {
	const host, other = "https://Example.com/a", "http://example.com:8080/"
	specs := map[string]func(*timer.Spec){
		"callback": func(s *timer.Spec) { s.CallbackURL = host },
		"same":     func(s *timer.Spec) { s.CallbackURL = "https://example.com:443/b" },
		"both":     func(s *timer.Spec) { s.CallbackURL, s.Deliver, s.Topic = other, timer.DeliverBoth, "orders" },
		"topic":    func(s *timer.Spec) { s.CallbackURL, s.Topic = "", "orders" },
		"event":    func(s *timer.Spec) { s.CallbackURL, s.Deliver, s.Topic = other, timer.DeliverEvent, "orders" },
		"common":   func(s *timer.Spec) { s.CallbackURL = "" },
		"ignored":  func(s *timer.Spec) { s.CallbackURL, s.Deliver = other, timer.DeliverEvent },
	}
	live := map[string]timer.Timer{}
	check := func(after string) {
		w.t.Helper()
		for id, t := range live {
			c := w.claim(w.ref(id).Shard)[0].Claim
			want := t.Target()
			for what, rows := range map[string][]store.DueRow{
				"due": w.due(c, store.MinKey(), w.now+hour).Rows, "overdue": w.overdue(c, w.now+hour).Rows,
			} {
				at := slices.IndexFunc(rows, func(r store.DueRow) bool { return r.Ref.UUID == t.UUID })
				if at < 0 {
					w.t.Errorf("%s: %q is not %s", after, id, what)
				} else if rows[at].Target != want {
					w.t.Errorf("%s: %s returns the target %s of %q, want %s", after, what, rows[at].Target, id, want)
				}
			}
		}
	}
	for id, change := range specs {
		op := w.putOp(id, w.now+second)
		op.Spec.Deliver, op.Spec.Topic, op.Spec.EventKey = timer.DeliverAuto, "", ""
		change(&op.Spec)
		live[id] = w.mustWrite(op).Timer
	}
	check("after a put")
	if a, b, c := live["callback"], live["same"], live["common"]; a.Target() != b.Target() || a.Target() == 0 || c.Target() != 0 {
		w.t.Errorf("targets %s and %s of one host, %s of none", a.Target(), b.Target(), c.Target())
	}
	url, topic := other, "others"
	for id, patch := range map[string]timer.Patch{"callback": {CallbackURL: &url}, "topic": {Topic: &topic}} {
		out := w.update(w.ref(id), patch)
		w.check(out.Err, "update %q", id)
		live[id] = out.Timer
	}
	check("after an update")
	for id, t := range live {
		t = w.move(&t, store.FinishPostponed)
		live[id] = w.move(&t, store.FinishRescheduled)
	}
	check("after it was rescheduled")
	for id, t := range live {
		w.end(&t, store.FinishDead)
		live[id] = w.rearm(w.rearmOp(id, w.now)).Timer
	}
	check("after it was armed again")
}

func dueCursor(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	all := w.due(c, store.MinKey(), w.now+hour).Rows
	for i := range all {
		got := w.due(c, all[i].Key(), w.now+hour).Rows
		if !slices.Equal(rowIDs(got), want[i+1:]) {
			w.t.Errorf("behind row %d come %v, want %v", i, rowIDs(got), want[i+1:])
		}
	}
	// A cursor need not be the key of a row.
	for _, between := range []struct {
		after store.Key
		first int
	}{
		{store.Key{DueAt: w.now}, 0},
		{store.Key{DueAt: w.now, UUID: timer.UUID{0x7f}}, 1},
		{store.Key{DueAt: w.now, UUID: timer.UUID{0x81}}, 6},
		{store.MaxKeyAt(w.now), 7},
		{store.MaxKeyAt(w.now + 1), 9},
		{store.Key{DueAt: w.now + minute - 1, UUID: timer.UUID{0xff}}, 12},
		{store.MaxKeyAt(w.now + hour), 14},
	} {
		got := w.due(c, between.after, w.now+hour).Rows
		if !slices.Equal(rowIDs(got), want[between.first:]) {
			w.t.Errorf("behind %v come %v, want %v", between.after, rowIDs(got), want[between.first:])
		}
	}
}

func dueHorizon(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	for _, h := range []struct {
		horizon timer.Millis
		n       int
		next    timer.Millis
	}{
		{w.now - 1, 0, w.now},
		{w.now, 7, w.now + 1},
		{w.now + 1, 9, w.now + 2},
		{w.now + minute - 1, 12, w.now + minute},
		{w.now + minute, 13, w.now + hour},
		{w.now + hour - 1, 13, w.now + hour},
		{timer.MaxMillis, 14, timer.Never},
	} {
		got := w.due(c, store.MinKey(), h.horizon)
		if !slices.Equal(rowIDs(got.Rows), want[:h.n]) || got.NextDueAt != h.next || got.Cut {
			w.t.Errorf("up to %s: %d rows, next %s, cut %t; want %d, %s, not cut",
				h.horizon, len(got.Rows), got.NextDueAt, got.Cut, h.n, h.next)
		}
	}
}

func duePerShard(w *world) {
	id := w.ns.Shards.Base
	want := w.unsorted(id)
	c := w.claim(id)[0].Claim
	for limit := 1; limit <= len(want)+1; limit++ {
		// Continue at the end of each page: every row is returned once, in order.
		var seen []timer.UUID
		after := store.MinKey()
		for {
			got := w.dueAll(store.DueQuery{
				Shards: []store.DueAfter{{Claim: c, After: after}}, Horizon: w.now + hour, PerShard: limit, Total: 1000,
			})[0]
			seen = append(seen, rowIDs(got.Rows)...)
			left := len(want) - len(seen)
			if len(got.Rows) > limit || got.Cut != (left > 0) || (got.NextDueAt == timer.Never) != (left == 0) {
				w.t.Fatalf("limit %d: %d rows, cut %t, next %s, %d left", limit, len(got.Rows), got.Cut, got.NextDueAt, left)
			}
			if !got.Cut {
				break
			}
			if len(got.Rows) != limit {
				w.t.Fatalf("limit %d: a shard cut at %d rows", limit, len(got.Rows))
			}
			after = got.Rows[len(got.Rows)-1].Key()
		}
		if !slices.Equal(seen, want) {
			w.t.Fatalf("limit %d: pages bring %v, want %v", limit, seen, want)
		}
	}
}

func dueTotal(w *world) {
	const each = 5
	shards := w.allShards()
	for i, id := range shards {
		for j := range each {
			w.putAt(place(id, byte(j), byte(i)), w.now+timer.Millis(j))
		}
	}
	claimed := w.claim(shards...)
	slices.Reverse(claimed) // the order of the query differs from that of the shard numbers
	q := store.DueQuery{Horizon: w.now + hour, PerShard: 3}
	for _, c := range claimed {
		q.Shards = append(q.Shards, store.DueAfter{Claim: c.Claim, After: store.MinKey()})
	}
	for q.Total = 1; q.Total <= 13; q.Total++ {
		room := q.Total
		for i, got := range w.dueAll(q) {
			n := min(room, q.PerShard)
			room -= n
			if len(got.Rows) != n || !got.Cut || got.NextDueAt != w.now+timer.Millis(n) {
				w.t.Errorf("total %d, shard %d: %d rows, cut %t, next %s; want %d, cut, %s",
					q.Total, i, len(got.Rows), got.Cut, got.NextDueAt, n, w.now+timer.Millis(n))
			}
			for j, r := range got.Rows {
				if r.Ref != place(claimed[i].Claim.Shard, byte(j), byte(len(shards)-1-i)) {
					w.t.Errorf("total %d, shard %d, row %d is %v", q.Total, i, j, r.Ref)
				}
			}
		}
	}
}

func dueNext(w *world) {
	id := w.ns.Shards.Base
	c := w.claim(id)[0].Claim
	if got := w.due(c, store.MinKey(), w.now); got.NextDueAt != timer.Never || got.Cut || len(got.Rows) != 0 {
		w.t.Errorf("an empty shard answers %+v", got)
	}
	// A timer that is due in years counts.
	w.putAt(place(id, 1, 1), timer.MaxMillis)
	if got := w.due(c, store.MinKey(), w.now); got.NextDueAt != timer.MaxMillis || got.Cut {
		w.t.Errorf("a timer at the end of time: %+v", got)
	}
	w.putAt(place(id, 2, 2), w.now+hour)
	if got := w.due(c, store.MinKey(), w.now); got.NextDueAt != w.now+hour || got.Cut {
		w.t.Errorf("a timer in an hour: %+v", got)
	}
	// Timers before the cursor do not count.
	if got := w.due(c, store.MaxKeyAt(w.now+hour), w.now); got.NextDueAt != timer.MaxMillis {
		w.t.Errorf("behind the timer in an hour: %+v", got)
	}
	if got := w.due(c, store.MaxKeyAt(timer.MaxMillis), timer.MaxMillis); got.NextDueAt != timer.Never {
		w.t.Errorf("behind everything: %+v", got)
	}
}

func dueParked(w *world) {
	t := w.put("a", w.now)
	id := w.ref("a").Shard
	t = w.move(&t, store.FinishParked)
	c := w.claim(id)[0].Claim
	if got := w.due(c, store.MinKey(), w.now+hour); len(got.Rows) != 0 || got.NextDueAt != timer.Never || got.Cut {
		w.t.Errorf("a parked row shows: %+v", got)
	}
	if got := w.overdue(c, w.now+hour); len(got.Rows) != 0 || got.More {
		w.t.Errorf("a parked row is overdue: %+v", got)
	}
	// It does not count for the limit, either.
	w.putAt(place(id, 0xff, 0xff), w.now+second)
	got := w.dueAll(store.DueQuery{
		Shards: []store.DueAfter{{Claim: c, After: store.MinKey()}}, Horizon: w.now + hour, PerShard: 1, Total: 1,
	})[0]
	if len(got.Rows) != 1 || got.Cut || got.NextDueAt != timer.Never {
		w.t.Errorf("behind a parked row: %+v", got)
	}
	more := w.overdueAll(store.OverdueQuery{
		Shards: []store.OverdueRange{{Claim: c, From: store.MinKey(), Upto: store.MaxKeyAt(w.now + hour)}},
		Before: w.now + hour, Limit: 1,
	})[0]
	if len(more.Rows) != 1 || more.More {
		w.t.Errorf("overdue behind a parked row: %+v", more)
	}
	w.wantRow(w.ref("a"), &t)
}

// dueFollows moves one timer and polls for it after each step.
func dueFollows(w *world) {
	id := w.ref("a").Shard
	c := w.claim(id)[0].Claim
	look := func(what string, want ...timer.Timer) {
		w.t.Helper()
		got := w.due(c, store.MinKey(), timer.MaxMillis).Rows
		swept := w.overdue(c, timer.MaxMillis).Rows
		w.equal(what+": overdue", swept, got)
		if len(got) != len(want) {
			w.t.Fatalf("%s: %d rows are due, want %d", what, len(got), len(want))
		}
		for i, t := range want {
			if got[i].Revision != t.Revision || got[i].DueAt != t.DueAt {
				w.t.Errorf("%s: due is %+v, want revision %s at %s", what, got[i], t.Revision, t.DueAt)
			}
		}
	}
	t := w.put("a", w.now+hour)
	look("put", t)
	t = w.put("a", w.now)
	look("replaced", t)
	for _, kind := range []store.FinishKind{
		store.FinishRetry, store.FinishPostponed, store.FinishLeased, store.FinishRescheduled,
	} {
		t = w.move(&t, kind)
		look(fmt.Sprint("kind ", kind), t)
	}
	t = w.move(&t, store.FinishParked)
	look("parked")
	t = w.update(w.ref("a"), timer.Patch{}).Timer
	look("updated", t)
	w.end(&t, store.FinishDead)
	look("dead")
	out, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{{Ref: w.ref("a"), Revision: w.next(), ExecuteAt: w.now}})
	w.check(err, "rearm")
	t = out[0].Timer
	look("rearmed", t)
	w.end(&t, store.FinishDone)
	look("done")
	w.put("a", w.now)
	w.mustWrite(store.Delete{Ref: w.ref("a")})
	look("deleted")
}

func dueOtherShards(w *world) {
	shards := w.allShards()
	for _, id := range shards {
		w.putAt(place(id, 1, byte(id)), w.now)
	}
	for _, c := range w.claim(shards...) {
		rows := w.due(c.Claim, store.MinKey(), w.now).Rows
		if len(rows) != 1 || rows[0].Ref.Shard != c.Claim.Shard {
			w.t.Errorf("shard %s shows %+v", c.Claim.Shard, rows)
		}
	}
}
