package dynamostore_test

import (
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestRequestsFollowTheWork checks the number of requests of each call of the contract: one request for each shard or
// timer of the call, independent of other timers.
func TestRequestsFollowTheWork(t *testing.T) {
	o := theServer(t).database(t)
	o.MaxRequests = 4 // the limit does not matter here, and few requests keep the load of a small server low
	w := hook(&o)
	s := open(t, o)
	ctx := t.Context()

	want := func(what string, call func() error, wanted map[string]int) {
		t.Helper()
		got := w.counted(t, call)
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%s takes %v, want %v", what, got, wanted)
		}
	}

	shards := count(1000)
	claims := claimed(t, s, shards[:120]...)
	var ops []store.Op
	const waiting = 100
	for i := range waiting { // all of them far in the future
		ops = append(ops, putIn(7, fmt.Sprint("waiting ", i), present+3_600_000))
	}
	for i := range 40 {
		ops = append(ops, putIn(8, fmt.Sprint("due ", i), present))
	}
	ops = append(ops, putIn(9, "alone", present))
	want("a create", func() error { _, err := s.Write(ctx, present, ops[waiting+40:]); return err }, map[string]int{"UpdateItem": 1})
	made(t, s, ops[:waiting+40]...)

	want("a poll of one shard with nothing due", func() error { _, err := s.Due(ctx, dueIn(claims[:1])); return err },
		map[string]int{"Query": 1, "BatchGetItem": 1})
	want("a poll of one shard with 100 timers waiting", func() error { _, err := s.Due(ctx, dueIn(claims[7:8])); return err },
		map[string]int{"Query": 1, "BatchGetItem": 1})
	want("a poll of one shard with one timer due", func() error { _, err := s.Due(ctx, dueIn(claims[9:10])); return err },
		map[string]int{"Query": 1, "BatchGetItem": 1})
	want("a poll of one shard with 40 due", func() error { _, err := s.Due(ctx, dueIn(claims[8:9])); return err },
		map[string]int{"Query": 3, "BatchGetItem": 1})
	want("a poll of three shards that are due to be looked at", func() error { _, err := s.Due(ctx, dueIn(claims[9:12])); return err },
		map[string]int{"Query": 3, "BatchGetItem": 1})
	want("a sweep of 110 shards with nothing overdue", func() error { _, err := s.Overdue(ctx, overdueIn(claims[10:])); return err },
		map[string]int{"Query": 110, "BatchGetItem": 2})
	want("asking a thousand shards for marks", func() error { _, err := s.Outbox(ctx, shards, present, 100); return err },
		map[string]int{"Query": 16})

	answer, err := s.Due(ctx, dueIn(claims[8:10]))
	if err != nil || len(answer[0].Rows) != 40 || len(answer[1].Rows) != 1 {
		t.Fatalf("due: %d and %d rows (%v), want 40 and 1", len(answer[0].Rows), len(answer[1].Rows), err)
	}
	var checks []store.Check
	for _, r := range answer[0].Rows {
		checks = append(checks, store.Check{Ref: r.Ref, DueAt: r.DueAt, Revision: r.Revision})
	}
	want("40 row checks", func() error { _, err := s.Current(ctx, checks); return err }, map[string]int{"BatchGetItem": 1})
	current, err := s.Current(ctx, checks)
	if err != nil {
		t.Fatal(err)
	}
	var done []store.Finish
	for i := range current {
		f := finishOf(8, &current[i].Timer, store.FinishDone)
		f.Record.FinishedAt = present + timer.Millis(store.EndMargin.Milliseconds())
		done = append(done, f)
	}
	// Nearly all timers end long after their rows were last written.
	want("38 outcomes", func() error { _, err := s.Finish(ctx, present, done[2:]); return err },
		map[string]int{"BatchGetItem": 1, "TransactWriteItems": 38})
	done[1].Record.FinishedAt--
	want("an outcome just after the row was written", func() error { _, err := s.Finish(ctx, present, done[1:2]); return err },
		map[string]int{"BatchGetItem": 1, "Query": 1, "TransactWriteItems": 1})
	leased := finishOf(8, &current[0].Timer, store.FinishLeased)
	want("a lease", func() error { _, err := s.Finish(ctx, present, []store.Finish{leased}); return err }, map[string]int{"UpdateItem": 1})
	want("a watermark", func() error {
		_, err := s.Advance(ctx, present, []store.Advance{{Claim: claims[8], Watermark: store.MaxKeyAt(present - 1)}})
		return err
	}, map[string]int{"UpdateItem": 1})
	want("a get of a live timer", func() error {
		_, err := s.Get(ctx, present, store.Ref{Shard: 7, UUID: timer.UUIDOf("default", "waiting 3")})
		return err
	}, map[string]int{"GetItem": 1})
}

// TestPollReadsAsMuchAsThereIsRoomFor: rows that are read beyond the limits would cost money and be dropped.
func TestPollReadsAsMuchAsThereIsRoomFor(t *testing.T) {
	o := theServer(t).database(t)
	watch := newWatcher()
	o.Observer, o.MaxRequests = watch, 4
	s := open(t, o)
	var ops []store.Op
	const shards, each = 6, 60
	for _, id := range count(shards) {
		for i := range each {
			ops = append(ops, putIn(id, fmt.Sprint(id, "/", i), present))
		}
	}
	made(t, s, ops...)
	claims := claimed(t, s, count(shards)...)
	watch.total["Query"] = 0
	q := overdueIn(claims)
	q.Limit = each
	answer, err := s.Overdue(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answer {
		rows, more := 0, true
		if i == 0 {
			rows, more = each, false
		}
		if len(answer[i].Rows) != rows || answer[i].More != more {
			t.Errorf("shard %d: %d rows, more: %t; want %d and %t", i, len(answer[i].Rows), answer[i].More, rows, more)
		}
	}
	// The first page of each shard costs one read unit, and one shard is read to the end: 60 entries of 250 bytes are
	// four units. Reading all six to the limit would take 24 or more.
	if units := watch.total["Query"]; units > shards+5 {
		t.Errorf("a page of %d rows took %.1f read units", each, units)
	}
}
