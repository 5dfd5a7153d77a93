package postgresstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const dayMillis = timer.Millis(24 * 60 * 60 * 1000)

// ended creates timers and finishes them at a time, with history for a day.
func ended(t *testing.T, s *Store, at timer.Millis, kind store.FinishKind, ids ...string) {
	t.Helper()
	var items []store.Finish
	var ops []store.Op
	for _, id := range ids {
		p := putOf(id, at)
		f := finishOf(p, kind)
		f.Record.StartedAt, f.Record.FinishedAt, f.Record.KeepFor = at, at, day
		ops, items = append(ops, p), append(items, f)
	}
	if _, err := s.Write(t.Context(), at, ops); err != nil {
		t.Fatal(err)
	}
	errs, err := s.Finish(t.Context(), at, items)
	if err = errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
}

// makeDayOf creates the day's partition for rows that expire at a time, as another process would have done earlier.
func makeDayOf(t *testing.T, inside string, expiry timer.Millis) (table string) {
	t.Helper()
	from := expiry.Time().Truncate(day)
	table = partPrefix + from.Format(dayLayout)
	execute(t, inside, fmt.Sprintf("CREATE TABLE %s PARTITION OF timer_history FOR VALUES FROM ('%s') TO ('%s')",
		table, from.Format(time.RFC3339), from.Add(day).Format(time.RFC3339)))
	return table
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
	inDead    = "SELECT count(*) FROM timer_history_dead"
	// dayTables counts the partitions of days and the default partition.
	dayTables = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'timer_history'::regclass AND inhrelid <> 'timer_history_dead'::regclass"
)

func TestHistoryLiesInDaysThatAreDropped(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		present := timer.SystemClock()
		at := present - 3*dayMillis
		makeDayOf(t, inside, at+dayMillis)
		ended(t, s, at, store.FinishDone, "a", "b", "c")
		ended(t, s, at, store.FinishDead, "dead")
		// Before schema 6, dead timers were in the partitions of days, too.
		execute(t, inside, "UPDATE timer_history SET expires_at = dead_until, dead_until = NULL WHERE outcome = 'dead'")
		if n := count(t, inside, inDefault) + count(t, inside, inDead); n != 0 {
			t.Errorf("%d rows lie beside the days", n)
		}
		days := count(t, inside, dayTables)
		// The day is over, but the dead timer has an outbox entry.
		if n, err := s.Purge(t.Context(), present, 1); n != 0 || err != nil {
			t.Errorf("purge of a day with a mark: %d, %v", n, err)
		}
		entries, err := s.Outbox(t.Context(), block.In(0, 1), present, 10)
		if err != nil || len(entries) != 1 {
			t.Fatalf("outbox: %d, %v", len(entries), err)
		}
		if err := s.RemoveFromOutbox(t.Context(), []store.OutboxID{entries[0].ID}); err != nil {
			t.Fatal(err)
		}
		// The limit applies to deleted rows, not to dropped partitions.
		if n, err := s.Purge(t.Context(), present.Add(daysAgain), 1); n != 4 || err != nil {
			t.Errorf("purge: %d, %v; want the 4 rows of the day", n, err)
		}
		if n := count(t, inside, dayTables); n != days-1 {
			t.Errorf("there were %d partitions, now there are %d", days, n)
		}
		if entries, err := s.History(t.Context(), at, putOf("a", at).Ref, 10); len(entries) != 0 || err != nil {
			t.Errorf("history of a purged day: %+v, %v", entries, err)
		}
		// Rows without a day's partition are kept, too.
		ended(t, s, at, store.FinishDone, "d")
		if entries, err := s.History(t.Context(), at, putOf("d", at).Ref, 10); len(entries) != 1 || err != nil {
			t.Errorf("history after that: %+v, %v", entries, err)
		}
	})
}

// TestDeadTimersAreKeptApart: the retention of dead timers adds no partitions and delays no drop. They are deleted row
// by row.
func TestDeadTimersAreKeptApart(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		present := timer.SystemClock()
		at := present - 3*dayMillis
		makeDayOf(t, inside, at+dayMillis)
		ended(t, s, at, store.FinishDone, "done")
		ended(t, s, at, store.FinishDead, "a", "b", "c") // expired two days ago
		ended(t, s, present, store.FinishDead, "kept")
		if n, rest := count(t, inside, inDead), count(t, inside, inDefault); n != 4 || rest != 0 {
			t.Errorf("%d dead timers are apart, and %d rows beside the days; want 4 and 0", n, rest)
		}
		days := count(t, inside, dayTables)
		if n, err := s.Purge(t.Context(), present, 10); n != 1 || err != nil || count(t, inside, dayTables) != days-1 {
			t.Errorf("purge while nobody was told: %d, %v; want the day of the one that is done", n, err)
		}
		entries, err := s.Outbox(t.Context(), block.In(0, 1), present+1, 10)
		if err != nil || len(entries) != 4 {
			t.Fatalf("outbox: %d, %v", len(entries), err)
		}
		for _, n := range entries {
			if err := s.RemoveFromOutbox(t.Context(), []store.OutboxID{n.ID}); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []int{2, 1, 0} {
			if n, err := s.Purge(t.Context(), present, 2); n != want || err != nil {
				t.Errorf("purge of at most 2: %d, %v; want %d", n, err, want)
			}
		}
		if got, err := s.Get(t.Context(), present, putOf("kept", present).Ref); err != nil || got.Status != timer.StatusDead {
			t.Errorf("the one that is kept: %+v, %v", got, err)
		}
		settings := store.DefaultSettings()
		settings.DeadRetention = store.MaxHistoryRetention
		if _, err := s.CreateNamespace(t.Context(), store.Namespace{Name: "n", Shards: shard.Block{Count: 1}, Settings: settings}); err != nil {
			t.Fatal(err)
		}
		if n := count(t, inside, dayTables); n != 5 {
			t.Errorf("%d partitions are there where dead timers are kept for a year, want the default one and four days", n)
		}
	})
}

func TestADayThatIsInUseIsLeftForTheNextTime(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		present := timer.SystemClock()
		at := present - 3*dayMillis
		makeDayOf(t, inside, at+dayMillis)
		ended(t, s, at, store.FinishDone, "a")
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
		if _, err := s.Purge(t.Context(), present, 10); err != nil {
			t.Errorf("purge beside a reader: %v", err)
		}
		if _, err := reader.Exec(t.Context(), "COMMIT"); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Purge(t.Context(), present.Add(daysAgain), 10); n != 1 || err != nil {
			t.Errorf("purge after the reader: %d, %v", n, err)
		}
	})
}

// TestAFastClockDropsNoDay: one process whose clock is ahead must not drop history that has not expired for others.
func TestAFastClockDropsNoDay(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		present := timer.SystemClock()
		ended(t, s, present, store.FinishDone, "a")
		if n := count(t, inside, inDefault); n != 0 {
			t.Fatalf("%d rows lie beside the days", n)
		}
		if n, err := s.Purge(t.Context(), present+5*dayMillis, 10); n != 0 || err != nil {
			t.Errorf("purge by a clock that is five days fast: %d, %v", n, err)
		}
		if entries, err := s.History(t.Context(), present, putOf("a", present).Ref, 10); len(entries) != 1 || err != nil {
			t.Errorf("history: %+v, %v", entries, err)
		}
	})
}

// TestRowsInTheWayOfADay: a day's partition cannot be created while the default partition has rows of the day. The
// store logs this once, takes no locks for it, and still deletes rows and creates the other days.
func TestRowsInTheWayOfADay(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		present := timer.SystemClock()
		openStore(t, inside)
		tomorrow := partPrefix + present.Time().Add(day).Format(dayLayout)
		next := partPrefix + present.Time().Add(2*day).Format(dayLayout)
		execute(t, inside, "DROP TABLE "+tomorrow, "DROP TABLE "+next)
		var log bytes.Buffer
		s, err := Open(t.Context(), Options{URL: inside, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		execute(t, inside, "DROP TABLE "+tomorrow, "DROP TABLE "+next)
		ended(t, s, present, store.FinishDone, "in the way")
		ended(t, s, present-3*dayMillis, store.FinishDone, "expired")
		if n, err := s.Purge(t.Context(), present, 10); n != 1 || err != nil {
			t.Errorf("purge: %d, %v; want the row that expired", n, err)
		}
		if n, err := s.Purge(t.Context(), present.Add(daysAgain), 10); n != 0 || err != nil {
			t.Errorf("purge again: %d, %v", n, err)
		}
		if n := strings.Count(log.String(), "default partition has rows of the day"); n != 1 {
			t.Errorf("it is told %d times: %s", n, log.String())
		}
		if n := count(t, inside, "SELECT count(*) FROM pg_class WHERE relname IN ('"+tomorrow+"', '"+next+"')"); n != 1 {
			t.Errorf("%d of 2 days are there, want the one that nothing is in the way of", n)
		}
	})
}

// TestDaysAreThereBeforeLongerHistory: the partitions for a longer retention exist when the namespace is written.
func TestDaysAreThereBeforeLongerHistory(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		ns := store.Namespace{Name: "default", Shards: shard.Block{Count: block.Count}, Settings: store.DefaultSettings()}
		for _, c := range []struct {
			retention time.Duration
			set       func(context.Context, store.Namespace) (store.Namespace, error)
		}{{5 * day, s.CreateNamespace}, {20 * day, s.UpdateNamespace}, {store.MaxHistoryRetention, s.UpdateNamespace}} {
			ns.Settings.HistoryRetention = c.retention
			set, err := c.set(t.Context(), ns)
			if err != nil {
				t.Fatal(err)
			}
			ns.Version = set.Version
			at := timer.SystemClock().Add(c.retention - day)
			ended(t, s, at, store.FinishDone, c.retention.String())
			if n := count(t, inside, inDefault); n != 0 {
				t.Errorf("kept for %s: %d rows lie beside the days", c.retention, n)
			}
			if n := count(t, inside, dayTables); n > 2*mostParts {
				t.Errorf("kept for %s: history has %d partitions", c.retention, n)
			}
		}
	})
}

// TestDaysOfKeptPayloadsAreMadeEachDay: the purge creates the partitions of coming days up to the longest keepPayload.
func TestDaysOfKeptPayloadsAreMadeEachDay(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		settings := store.DefaultSettings()
		settings.KeepPayload = 7 * day
		ns := store.Namespace{Name: "default", Shards: shard.Block{Count: block.Count}, Settings: settings}
		if _, err := s.CreateNamespace(t.Context(), ns); err != nil {
			t.Fatal(err)
		}
		present := timer.SystemClock()
		last := part{present.Time().Truncate(day).Add(7 * day), 1}.table()
		execute(t, inside, "DROP TABLE "+last)
		if _, err := s.Purge(t.Context(), present.Add(daysAgain), 10); err != nil {
			t.Fatal(err)
		}
		if n := count(t, inside, "SELECT count(*) FROM pg_class WHERE relname = '"+last+"'"); n != 1 {
			t.Errorf("%s is not made", last)
		}
	})
}

// TestADayThatCannotBeDroppedInTime: the partitions of coming days are created nevertheless.
func TestADayThatCannotBeDroppedInTime(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		present := timer.SystemClock()
		makeDayOf(t, inside, present-3*dayMillis)
		missing := part{present.Time().Truncate(day).Add(2 * day), 1}.table()
		execute(t, inside, "DROP TABLE "+missing,
			"CREATE FUNCTION dawdle() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(10); END $$",
			"CREATE EVENT TRIGGER dawdle ON sql_drop EXECUTE FUNCTION dawdle()")
		if _, err := s.Purge(t.Context(), present, 10); err != nil {
			t.Errorf("purge: %v", err)
		}
		if n := count(t, inside, "SELECT count(*) FROM pg_class WHERE relname = '"+missing+"'"); n != 1 {
			t.Errorf("%s is not made", missing)
		}
		execute(t, inside, "DROP EVENT TRIGGER dawdle")
		days := count(t, inside, dayTables)
		if _, err := s.Purge(t.Context(), present.Add(daysAgain), 10); err != nil || count(t, inside, dayTables) != days-1 {
			t.Errorf("purge without the trigger: %v; there are still %d partitions", err, count(t, inside, dayTables))
		}
	})
}

// TestPartsOfSeveralDaysAreDropped: after the last of their days.
func TestPartsOfSeveralDaysAreDropped(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		present := timer.SystemClock()
		today := present.Time().Truncate(day)
		for _, p := range []part{{today.Add(-9 * day), 4}, {today.Add(-5 * day), 9}} {
			execute(t, inside, fmt.Sprintf("CREATE TABLE %s PARTITION OF timer_history FOR VALUES FROM ('%s') TO ('%s')",
				p.table(), p.from.Format(time.RFC3339), p.to().Format(time.RFC3339)))
		}
		s := openStore(t, inside)
		ended(t, s, present-7*dayMillis, store.FinishDone, "over", "as well")
		ended(t, s, present-5*dayMillis, store.FinishDone, "expired, in a part that is not over")
		if n := count(t, inside, inDefault); n != 0 {
			t.Errorf("%d rows lie beside the days", n)
		}
		if n, err := s.Purge(t.Context(), present, 1); n != 2 || err != nil {
			t.Errorf("purge: %d, %v; want the 2 rows of the part that is over", n, err)
		}
		if n := count(t, inside, dayTables); n != 2 {
			t.Errorf("%d partitions are there, want the default one and one that is not over and holds all days to come", n)
		}
	})
}

// TestOneProcessLooksAfterTheDays: while another process changes partitions, this one changes nothing and does not
// wait.
func TestOneProcessLooksAfterTheDays(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		if _, err := other.Exec(t.Context(), "SELECT pg_advisory_lock($1)", daysLock); err != nil {
			t.Fatal(err)
		}
		s := openStore(t, inside)
		if n := count(t, inside, dayTables); n != 1 {
			t.Errorf("%d partitions are there, want the default one", n)
		}
		if _, err := other.Exec(t.Context(), "SELECT pg_advisory_unlock($1)", daysLock); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Purge(t.Context(), timer.SystemClock(), 10); n != 0 || err != nil {
			t.Errorf("purge: %d, %v", n, err)
		}
		if n := count(t, inside, dayTables); n != 4 {
			t.Errorf("%d partitions are there, want the default one and three days", n)
		}
	})
}

// TestLongerHistoryWaitsForItsDays: another process is changing partitions at the same time, and creates different
// ones.
func TestLongerHistoryWaitsForItsDays(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		if _, err := other.Exec(t.Context(), "SELECT pg_advisory_lock($1)", daysLock); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		ctx := t.Context()
		go func() {
			defer close(done)
			s.makeDaysFor(ctx, 90*day)
		}()
		waitForLock(t, other)
		p := part{timer.SystemClock().Time().Truncate(day).Add(4 * day), 1}
		for _, statement := range []string{
			fmt.Sprintf("CREATE TABLE %s PARTITION OF timer_history FOR VALUES FROM ('%s') TO ('%s')",
				p.table(), p.from.Format(time.RFC3339), p.to().Format(time.RFC3339)),
			fmt.Sprintf("SELECT pg_advisory_unlock(%d)", daysLock),
		} {
			if _, err := other.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		<-done
		at := timer.SystemClock().Add(89 * day)
		ended(t, s, at, store.FinishDone, "a")
		if n := count(t, inside, inDefault); n != 0 {
			t.Errorf("%d rows lie beside the days", n)
		}
	})
}

func TestPartsAreReadFromTheirNames(t *testing.T) {
	november := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]part{
		"timer_history_20261121": {november, 1}, "timer_history_20261121_12": {november, 12},
		"timer_history_default": {}, "timers_00": {}, "timer_history_2026": {}, "timer_history_20261121_0": {},
		"timer_history_20261121_x": {}, "timer_history_20261121_1": {}, "timer_history_20261121_-3": {},
	} {
		got, ok := partOf(name)
		if ok != (want.days != 0) || ok && got != want {
			t.Errorf("%s holds %+v (%t), want %+v", name, got, ok, want)
		}
	}
}

// TestPartsHoldEveryDayToCome simulates two years, in which the retention becomes longer and shorter.
func TestPartsHoldEveryDayToCome(t *testing.T) {
	today := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	retention, most := day, 0
	var there []part
	for n := range 730 {
		switch n {
		case 100:
			retention = 30 * day
		case 200:
			retention = store.MaxHistoryRetention
		case 600:
			retention = 45 * day
		}
		d := days{there: there, first: today, last: today.Add(retention).Truncate(day).Add(2 * day)}
		there = slices.SortedFunc(slices.Values(append(d.missing(), there...)), func(a, b part) int { return a.from.Compare(b.from) })
		there = slices.DeleteFunc(there, func(p part) bool { return !p.to().After(today) })
		if there[0].from.After(today) || there[len(there)-1].to().Before(today.Add(retention+day)) {
			t.Fatalf("day %d: from %s to %s is not all that is to come", n, there[0].from, there[len(there)-1].to())
		}
		for i, p := range there[1:] {
			if !p.from.Equal(there[i].to()) {
				t.Fatalf("day %d: %s follows %s", n, p.table(), there[i].table())
			}
		}
		most = max(most, len(there))
		if n == 99 && len(there) != 4 || n == 199 && len(there) != mostParts {
			t.Errorf("day %d, history kept for %s: %d parts", n, retention, len(there))
		}
		today = today.Add(day)
	}
	if most > 2*mostParts {
		t.Errorf("there were %d parts at a time", most)
	}
}

// TestMissingPartsFitBetweenOthers: a gap that is shorter than a part is filled, and a day is in only one part.
func TestMissingPartsFitBetweenOthers(t *testing.T) {
	today := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	d := days{
		there: []part{{today.Add(-2 * day), 3}, {today.Add(3 * day), 1}},
		first: today, last: today.Add(99 * day), // 100 days: four to a part
	}
	got := d.missing()
	if len(got) < 3 || got[0] != (part{today.Add(day), 2}) || got[1] != (part{today.Add(4 * day), 4}) {
		t.Errorf("missing: %+v", got)
	}
}

// TestInstantsKeepTheirOrder: times outside PostgreSQL's range become infinite, and no other times do.
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
