package memstore

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/storetest"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestStore runs the conformance suite, and checks the indexes after each subtest. Reopen closes all handles and opens
// a new one on the same database.
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Factory{
		New: func(tb testing.TB) storetest.Subject {
			db := NewDatabase()
			tb.Cleanup(func() { db.checkIndexes(tb) })
			var open []*Store
			handle := func(testing.TB) store.Store {
				open = append(open, db.Open())
				return open[len(open)-1]
			}
			return storetest.Subject{
				Store:   handle(tb),
				Another: handle,
				Reopen: func(tb testing.TB) store.Store {
					for _, s := range open {
						if err := s.Close(); err != nil {
							tb.Fatal(err)
						}
					}
					return handle(tb)
				},
			}
		},
		Reference: func(testing.TB) store.Store { return NewDatabase().Open() },
		Without:   map[storetest.Ability]string{storetest.AnyFill: "a store in memory has no disk", storetest.AnyRefusing: "it refuses nothing", storetest.AnyOccupy: "its calls wait for no connection"},
	})
}

// checkIndexes compares the indexes with the rows.
func (db *Database) checkIndexes(tb testing.TB) {
	tb.Helper()
	unmarked := 0
	for id, sh := range db.shards {
		due, marks := 0, 0
		for uuid, r := range sh.rows.all() {
			if r.timer.UUID != uuid {
				tb.Errorf("row %s lies at %s", r.timer.UUID, uuid)
			}
			if indexed, _ := sh.due.get(r.key()); r.held() == (indexed == r) {
				tb.Errorf("row %s is %s; it is among the due rows: %t", uuid, r.timer.Status, indexed == r)
			}
			if !r.held() {
				due++
			}
			if r.mark.set {
				marks++
				if on, _ := sh.marks.get(r.markKey()); on.parked != r {
					tb.Errorf("the mark of row %s is not indexed", uuid)
				}
			}
		}
		for key, h := range sh.history.all() {
			if h.key() != key || sh.byAttempt[h.attemptKey()] != h {
				tb.Errorf("history %+v is not found by its attempt", key)
			}
			switch on, _ := sh.marks.get(h.markKey()); {
			case h.mark.set && on.dead != h:
				tb.Errorf("the mark of %+v is not indexed", key)
			case h.mark.set:
				marks++
			default:
				unmarked++
				if indexed, _ := db.expiry.get(h.expiryKey()); indexed != h {
					tb.Errorf("history %+v never expires", key)
				}
			}
		}
		if due != sh.due.len || marks != sh.marks.len || sh.history.len != len(sh.byAttempt) {
			tb.Errorf("shard %s: %d of %d due, %d of %d marks, %d of %d attempts",
				id, due, sh.due.len, marks, sh.marks.len, sh.history.len, len(sh.byAttempt))
		}
	}
	if unmarked != db.expiry.len {
		tb.Errorf("%d history rows without a mark, %d that expire", unmarked, db.expiry.len)
	}
}

// TestTimeIsTheGivenClocks: simulations depend on it.
func TestTimeIsTheGivenClocks(t *testing.T) {
	db := NewDatabaseAt(func() timer.Millis { return 42 })
	if got, err := db.Open().Time(t.Context()); got.At != 42 || err != nil {
		t.Errorf("Time = %s, %v; want 42 ms after 1970", got.At, err)
	}
}

// BenchmarkLife creates and finishes a timer in a store with 100,000 other timers.
func BenchmarkLife(b *testing.B) {
	const pending = 100_000
	s := NewDatabase().Open()
	ctx := b.Context()
	ref := func(i int) store.Ref {
		return store.Ref{UUID: timer.UUIDOf("bench", timer.Revision(i).String())}
	}
	put := func(i int, at timer.Millis) store.Op {
		return store.Put{Ref: ref(i), Namespace: "bench", ID: "x", Revision: timer.Revision(i + 1), Spec: timer.Spec{ExecuteAt: at}}
	}
	for i := range pending {
		if _, err := s.Write(ctx, 0, []store.Op{put(i, timer.Millis(i*7919%pending))}); err != nil {
			b.Fatal(err)
		}
	}
	i := pending
	for b.Loop() {
		i++
		at := timer.Millis(i * 7919 % pending)
		if _, err := s.Write(ctx, 0, []store.Op{put(i, at)}); err != nil {
			b.Fatal(err)
		}
		errs, err := s.Finish(ctx, at, []store.Finish{{
			Ref: ref(i), Kind: store.FinishDone, If: store.Guard{Revision: timer.Revision(i + 1)},
			Record: store.Record{Attempt: 1, FinishedAt: at},
		}})
		if err != nil || errs[0] != nil {
			b.Fatal(err, errs)
		}
		if i%100 == 0 {
			if _, err := s.Purge(ctx, pending*2, 1000); err != nil {
				b.Fatal(err)
			}
		}
	}
}
