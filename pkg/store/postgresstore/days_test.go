package postgresstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const dayMillis = timer.Millis(24 * 60 * 60 * 1000)

// ended makes timers and ends them at the machine's present, so that history lies in its days.
func ended(t *testing.T, s *Store, kind store.FinishKind, ids ...string) (at timer.Millis) {
	t.Helper()
	at = timer.SystemClock()
	var items []store.Finish
	var ops []store.Op
	for _, id := range ids {
		p := putOf(id, at)
		f := finishOf(p, kind)
		f.Record.StartedAt, f.Record.FinishedAt, f.Record.KeepFor = at, at, 24*time.Hour
		ops, items = append(ops, p), append(items, f)
	}
	if _, err := s.Write(t.Context(), at, ops); err != nil {
		t.Fatal(err)
	}
	errs, err := s.Finish(t.Context(), at, items)
	if err = errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
	return at
}

func count(t *testing.T, address, query string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if err := c.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	inDefault = "SELECT count(*) FROM timer_history_default"
	dayTables = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'timer_history'::regclass"
)

func TestHistoryLiesInDaysThatAreDropped(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		_, err := s.CreateNamespace(t.Context(), store.Namespace{
			Name: "default", Shards: shard.Block{Count: block.Count}, Settings: store.DefaultSettings(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Purge(t.Context(), timer.SystemClock(), 100); n != 0 || err != nil { // makes the days that the namespace needs
			t.Fatalf("purge of nothing: %d, %v", n, err)
		}
		at := ended(t, s, store.FinishDone, "a", "b", "c")
		ended(t, s, store.FinishDead, "dead")
		if n := count(t, inside, inDefault); n != 0 {
			t.Errorf("%d rows lie beside the days", n)
		}
		days := count(t, inside, dayTables)
		// Two days later the day is over, but nobody was told of the dead timer.
		later := at + 3*dayMillis
		if n, err := s.Purge(t.Context(), later, 1); n != 0 || err != nil {
			t.Errorf("purge of a day with a mark: %d, %v", n, err)
		}
		notices, err := s.Unannounced(t.Context(), block.In(0, 1), later, 10)
		if err != nil || len(notices) != 1 {
			t.Fatalf("unannounced: %d, %v", len(notices), err)
		}
		if err := s.Announced(t.Context(), []store.Mark{notices[0].Mark}); err != nil {
			t.Fatal(err)
		}
		// The limit is about rows; a day goes as a whole.
		if n, err := s.Purge(t.Context(), later, 1); n != 4 || err != nil {
			t.Errorf("purge: %d, %v; want the 4 rows of the day", n, err)
		}
		if n := count(t, inside, dayTables); n >= days {
			t.Errorf("there were %d partitions, now there are %d", days, n)
		}
		if entries, err := s.History(t.Context(), at, putOf("a", at).Ref, 10); len(entries) != 0 || err != nil {
			t.Errorf("history of a purged day: %+v, %v", entries, err)
		}
		// It is made again for what comes, and what has no day is kept all the same.
		ended(t, s, store.FinishDone, "d")
		if entries, err := s.History(t.Context(), at, putOf("d", at).Ref, 10); len(entries) != 1 || err != nil {
			t.Errorf("history after that: %+v, %v", entries, err)
		}
	})
}

func TestADayThatIsInUseIsLeftForTheNextTime(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		at := ended(t, s, store.FinishDone, "a")
		reader, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close(t.Context())
		for _, statement := range []string{"BEGIN", "SELECT FROM timer_history"} {
			if _, err := reader.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		later := at + 3*dayMillis
		if _, err := s.Purge(t.Context(), later, 10); err != nil {
			t.Errorf("purge beside a reader: %v", err)
		}
		if _, err := reader.Exec(t.Context(), "COMMIT"); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Purge(t.Context(), later, 10); n != 1 || err != nil {
			t.Errorf("purge after the reader: %d, %v", n, err)
		}
	})
}

func TestDaysAreReadFromTheirNames(t *testing.T) {
	for name, want := range map[string]string{
		"timer_history_20261121": "2026-11-21", "timer_history_default": "", "timers_00": "", "timer_history_2026": "",
	} {
		from, ok := dayOf(name)
		if ok != (want != "") || ok && from.Format(time.DateOnly) != want {
			t.Errorf("%s is the day %s (%t), want %q", name, from, ok, want)
		}
	}
}

// TestInstantsKeepTheirOrder: what PostgreSQL cannot tell apart becomes infinite, and never the other way.
func TestInstantsKeepTheirOrder(t *testing.T) {
	rising := []timer.Millis{
		store.MinKey().DueAt, timer.MinMillis, -1, 0, 1, epoch - 1, epoch, epoch + 1, now, timer.MaxMillis, timer.Never,
	}
	for i, m := range rising {
		raw := instantValue(m)
		if got := instantOf(raw); got != m {
			t.Errorf("%d comes back as %d", m, got)
		}
		if i > 0 && signed(raw) <= signed(instantValue(rising[i-1])) {
			t.Errorf("%d is not stored behind %d", m, rising[i-1])
		}
	}
	if instantOf(instantValue(firstInstant-1)) != store.MinKey().DueAt || instantOf(instantValue(lastInstant+1)) != timer.Never {
		t.Error("instants beyond PostgreSQL's are not infinite")
	}
}

func signed(raw []byte) int64 {
	r := record{values: [][]byte{raw}}
	return r.int8()
}

func TestStorableErrors(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "nul \x00 byte": "nul � byte", "bad \xff\xfe": "bad �", "é": "é",
	} {
		if got := errorText(in); got != want {
			t.Errorf("%q is stored as %q, want %q", in, got, want)
		}
	}
	if got := errorText(fmt.Sprintf("%0600d", 0)); len(got) != store.MaxError {
		t.Errorf("%d bytes are stored", len(got))
	}
}
