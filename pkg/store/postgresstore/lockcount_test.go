package postgresstore

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// countLocks counts the tables and indexes of timers and history that the transaction has locked.
const countLocks = `SELECT count(DISTINCT relation) FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid()
	AND relation IN (SELECT oid FROM pg_class WHERE relname ~ '^(timers|timer_history)')`

// noteLocks are statements that create triggers. After every write, these record how many tables and indexes of timers
// and history its transaction has locked.
var noteLocks = []string{
	"CREATE TABLE noted (locks bigint)",
	`CREATE FUNCTION note_locks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO noted ` + countLocks + `;
	RETURN NULL;
END $$`,
	"CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON timers FOR EACH STATEMENT EXECUTE FUNCTION note_locks()",
	"CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON timer_history FOR EACH STATEMENT EXECUTE FUNCTION note_locks()",
}

// TestLocksOfATransaction compares docs/operations.md with the number of locks of a transaction: when a connection
// first plans its statements, and later. A server's shared lock table must have room for them. Older servers need a few
// less.
func TestLocksOfATransaction(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	eachServer(t, func(t *testing.T, address string) {
		for kept, retention := range map[string]time.Duration{"24 hours": day, "30 days": 30 * day} {
			inside := migrated(t, address)
			execute(t, inside, noteLocks...)
			s := openStore(t, inside)
			settings := store.DefaultSettings()
			settings.HistoryRetention = retention
			if _, err := s.CreateNamespace(t.Context(), store.Namespace{
				Name: "default", Shards: shard.Block{Count: 1024}, Settings: settings,
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.keepDays(t.Context(), now, 0, true); err != nil {
				t.Fatal(err)
			}
			parts := count(t, inside, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'timer_history'::regclass")
			var most [2]int
			for pass := range most {
				execute(t, inside, "TRUNCATE noted")
				touchEverything(t, s, pass)
				most[pass] = count(t, inside, "SELECT max(locks) FROM noted")
			}
			planned, later := max(most[0], locksOfPlans(t, inside)), most[1]
			var told [3]int
			row := regexp.MustCompile(`\| ` + kept + ` \| (\d+) \| (\d+) \| (\d+) \|`).FindStringSubmatch(string(text))
			for i := range told {
				if len(row) > i+1 {
					told[i], _ = strconv.Atoi(row[i+1])
				}
			}
			newest := count(t, inside, "SELECT count(*) FROM pg_settings WHERE name = 'server_version_num' AND setting::int >= 180000") > 0
			if told[0] != parts || planned > told[1] || later > told[2] || newest && (planned < told[1] || later < told[2]) {
				t.Errorf("with history for %s there are %d partitions, %d locks in planning and %d later; docs/operations.md says %d", kept, parts, planned, later, told)
			}
		}
	})
}

// touchEverything creates and finishes timers in all partitions, with every kind of outcome.
func touchEverything(t *testing.T, s *Store, pass int) {
	t.Helper()
	block := shard.Block{Count: 1024}
	var ops []store.Op
	var items []store.Finish
	kinds := []store.FinishKind{store.FinishDone, store.FinishDead, store.FinishRetry, store.FinishParked, store.FinishRescheduled}
	for i := range 400 {
		p := putOf(fmt.Sprint("timer-", pass, "-", i), now)
		p.Ref.Shard = block.Place(p.ID)
		if i%3 == 0 {
			p.OnConflict = store.Keep
		}
		ops, items = append(ops, p), append(items, finishOf(p, kinds[i%len(kinds)]))
	}
	for range 2 { // the second time, all are replaced or kept
		if _, err := s.Write(t.Context(), now, ops); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Finish(t.Context(), now, items); err != nil {
			t.Fatal(err)
		}
	}
	var rearms []store.Rearm
	for _, item := range items {
		rearms = append(rearms, store.Rearm{Ref: item.Ref, Revision: item.Next + 1, ExecuteAt: now})
	}
	if _, err := s.Rearm(t.Context(), now, rearms); err != nil {
		t.Fatal(err)
	}
}

// locksOfPlans returns the largest number of tables and indexes that a statement locks when it is planned.
func locksOfPlans(t *testing.T, inside string) (most int) {
	t.Helper()
	s := openStore(t, inside)
	c, err := pgx.ConnectConfig(t.Context(), s.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	for _, p := range plans() {
		tx, err := c.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		explainOn(t, c, p.sql)
		var locks int
		if err := tx.QueryRow(t.Context(), countLocks).Scan(&locks); err != nil {
			t.Fatal(err)
		}
		most = max(most, locks)
		if _, err := tx.Exec(t.Context(), "DEALLOCATE explained"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return most
}
