package postgresstore

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// plan is a statement and requirements on its query plan.
type plan struct {
	what string
	statement
	// through are index searches that the plan must contain.
	through []string
	// mayScan, maySort and mayFilter are the reasons why a scan of a table, a sort, or a join with a condition that no
	// index serves is allowed, and mayVary why the plan for empty tables may differ.
	mayScan, maySort, mayFilter, mayVary string
}

const (
	byDue     = `_due_at_timer_uuid_idx on timers_\d+ t.*\n.*Index Cond: \(\(shard_id = ANY \(ARRAY\[a.shard_id\]\)\) AND \(ROW\(due_at, timer_uuid\) >= ROW\(a.due_at, a.timer_uuid\)\) AND \(ROW\(due_at, timer_uuid\) <= ROW\(a.due_at, a.timer_uuid\)\)\)`
	byKey     = `_pkey on timers_\d+ t.*\n.*Index Cond: \(\(shard_id = ANY \(ARRAY\[a.shard_id\]\)\) AND \(timer_uuid = a.timer_uuid\)\)`
	behindKey = `_due_at_timer_uuid_idx on timers_\d+ t.*\n.*Index Cond: \(\(shard_id = a.shard_id\) AND \(ROW\(due_at, timer_uuid\) > ROW\(a.after_due, a.after_uuid\)\)\)`
	between   = `_due_at_timer_uuid_idx on timers_\d+ t.*\n.*Index Cond: \(\(shard_id = f.shard_id\) AND \(ROW\(due_at, timer_uuid\) > ROW\(f.after_due, f.after_uuid\)\) AND \(due_at < \$8\) AND \(ROW\(due_at, timer_uuid\) <= ROW\(f.upto_due, f.upto_uuid\)\)\)`
	inHistory = `_shard_id_timer_uuid_generation_\w+ on timer_history_\w+ h.*\n.*Index Cond: \(\(shard_id = ANY \(ARRAY\[a.shard_id\]\)\) AND \(timer_uuid = a.timer_uuid\) AND \(generation = a.generation\) AND \(attempt = a.attempt\)\)`
	byShard   = `claims_pkey on claims c.*\n.*Index Cond: \(shard_id = ANY \(ARRAY\[a.shard_id\]\)\)`
	watermark = `Index Scan Backward using watermarks_pkey on watermarks m.*\n.*Index Cond: \(shard_id = a.shard_id\)`
	oneTimers = "sorts the history of one timer"

	sortsRange = "sorts the index entries of the range, whose number is bounded"
)

// shared returns a statement of the common code.
func shared(name string) statement {
	s := statements.All()[name]
	return statement{s.Name, s.SQL}
}

func plans() []plan {
	plans := []plan{
		{what: "Put: creates", statement: createTimers},
		{what: "Put, Update, Delete, Finish: lock", statement: lockTimers, through: []string{byKey}},
		{what: "Put: insert", statement: insertTimers},
		{what: "Put, Update, Finish: replace", statement: replaceTimers, through: []string{byKey}},
		{what: "Delete, Finish: delete", statement: deleteTimers, through: []string{byKey}},
		{what: "Put at a position", statement: movePosition, through: []string{`positions_pkey`}},
		{what: "Position", statement: shared("select_position"), through: []string{`positions_pkey`}},
		{what: "Get", statement: shared("select_live"), through: []string{`_pkey on timers_`}},
		{what: "Get of a finished timer", statement: shared("select_end"), through: []string{`generation_\w+ on timer_history_`}, maySort: oneTimers},
		{what: "Put: ends", statement: selectEnds, through: []string{`generation_\w+ on timer_history_`}, maySort: oneTimers},
		{what: "History", statement: shared("select_history"), through: []string{`generation_\w+ on timer_history_`}, maySort: oneTimers},
		{what: "CountLive", statement: shared("count_namespace"), through: []string{`Index Only Scan using timers_\w+_pkey`}},
		{what: "Current", statement: currentByKey, through: []string{byDue}},
		{what: "Current of rows that moved", statement: currentByUUID, through: []string{byKey}},
		{what: "Current: count starts", statement: countStarts, through: []string{byKey}},
		{
			what: "Finish: remove", statement: removeTimers, through: []string{byDue, `generation_\w+ on timer_history_`},
			mayFilter: "the attempts of one generation are few",
		},
		{what: "Finish: give way", statement: giveWay, through: []string{inHistory}},
		{what: "Finish: history", statement: insertHistory, through: []string{inHistory}},
		{what: "Due", statement: dueTimers, through: []string{byShard, behindKey}, maySort: "puts the shards asked in their order"},
		{what: "Overdue", statement: overdueTimers, through: []string{byShard, behindKey, between}, maySort: "puts the shards asked in their order"},
		{what: "Inspect", statement: shared("inspect_shards"), through: []string{byShard, watermark, `_due_at_timer_uuid_idx on timers_`}},
		{what: "Claim", statement: claimShards},
		{what: "Claim: watermarks", statement: readWatermarks, through: []string{watermark}},
		{what: "Release", statement: releaseShards, through: []string{byShard}},
		{what: "Advance: lock", statement: lockClaims, through: []string{byShard}},
		{what: "Advance", statement: advanceShards, through: []string{byShard, watermark, `Tid Scan on watermarks w`}},
		{what: "Outbox: parked", statement: shared("parked_outbox"), through: []string{`marked_at_idx on timers_`}},
		{what: "Outbox: dead", statement: shared("dead_outbox"), through: []string{`marked_at_idx on timer_history_`}},
		{what: "RemoveFromOutbox: parked", statement: unmarkParked, through: []string{byKey}},
		{what: "RemoveFromOutbox: dead", statement: unmarkDead, through: []string{inHistory}},
		{
			what: "Forget: final outcomes", statement: selectFinal, through: []string{`generation_\w+ on timer_history_`},
			mayFilter: "the attempts of one generation are few",
		},
		{what: "Forget", statement: deleteGeneration, through: []string{`generation_\w+ on timer_history_`}},
		{what: "Purge", statement: deleteExpired, through: []string{`timer_history_default_expiry`}},
		{what: "Purge: dead timers", statement: deleteExpiredDead, through: []string{`timer_history_dead_expiry`}},
		{what: "Purge: rows in the way of a day", statement: dayIsTaken, through: []string{`timer_history_default_expiry`, `timer_history_default_marked_at_idx`}},
		{what: "List by made correlation", statement: shared("list_made"), through: []string{`_pkey on timers_`}},
		{what: "List finished by made correlation", statement: shared("list_ends_made"), through: []string{`generation_\w+ on timer_history_`}},
		{what: "List by due time: is a shard crowded", statement: shared("list_due_crowded"), through: []string{`Index Only Scan using timers_\d+_shard_id_due_at_timer_uuid_idx`}},
		{what: "List by due time: how far a page reaches", statement: shared("list_due_reach"), through: []string{`Index Only Scan using timers_\d+_shard_id_due_at_timer_uuid_idx`}},
		{what: "List by due time: how far parked timers reach", statement: shared("list_parked_reach"), through: []string{`Index Only Scan using timers_\d+_status_\w+`}},
		{
			what: "List by due time: rows", statement: shared("list_due"), maySort: sortsRange,
			through: []string{`Index Only Scan using timers_\d+_shard_id_due_at_timer_uuid_idx`, `_status_\w+ on timers_`, `_pkey on timers_`},
		},
		{
			what: "List by due time: bound", statement: shared("list_due_bound"), maySort: sortsRange,
			through: []string{`Index Only Scan using timers_\d+_shard_id_due_at_timer_uuid_idx`, `_status_\w+ on timers_`},
		},
		{
			what: "DueKeys", statement: shared("due_keys"),
			through: []string{`Index Only Scan using timers_\d+_shard_id_due_at_timer_uuid_idx on timers_\d+ t.*\n.*Index Cond: \(\(shard_id = b.probed\) AND \(ROW\(due_at, timer_uuid\) > ROW`},
		},
		{what: "Ping: look for room", statement: fillRoom},
		{what: "Count parked", statement: countParked, through: []string{`Index Only Scan using timers_\d+_status_\w+`}},
		{what: "Count dead", statement: countDead, through: []string{`Index Only Scan using timer_history_dead_\w+`}},
		{what: "Count moved", statement: countMoved, through: []string{`timers_\d+_planned_at_due_at_leased_status_idx`}},
		{
			what: "Count overdue", statement: countOverdue, through: []string{`_due_at_timer_uuid_idx on timers_`},
			mayScan: "reads all namespaces, which are few",
		},
	}
	variable := map[string]string{
		"list_same": "a list is not part of the protocol, and the server plans again when it analyzes tables that have rows",
	}
	for walk, through := range map[string]struct{ index, cond string }{
		"list_live":      {`timers_\d+_pkey`, `.*ROW\(shard_id, timer_uuid\) > ROW`},
		"list_parked":    {`timers_\d+_status_\w+`, `.*status = 'parked'.*ROW\(shard_id, timer_uuid\) > ROW`},
		"list_retrying":  {`timers_\d+_status_\w+`, `.*status = 'retrying'.*ROW\(shard_id, timer_uuid\) > ROW`},
		"list_same":      {`timers_\d+_correlation\w+`, `\(\(correlation_id = `},
		"list_ends":      {`timer_history_\w+`, `.*ROW\(shard_id, timer_uuid, generation, attempt\) > ROW`},
		"list_dead":      {`timer_history_\w+_idx1`, `.*ROW\(shard_id, timer_uuid, generation, attempt\) > ROW`},
		"list_ends_same": {`timer_history_\w+_correlation\w+`, `\(\(correlation_id = `},
	} {
		plans = append(plans,
			plan{what: walk + ": rows", mayVary: variable[walk], statement: shared(walk), through: []string{`Index Scan using ` + through.index + ` on .*\n.*Index Cond: ` + through.cond}},
			plan{what: walk + ": bound", mayVary: variable[walk], statement: shared(walk + "_bound"), through: []string{`Index Only Scan using ` + through.index}})
	}
	return plans
}

var (
	scans = regexp.MustCompile(`Seq Scan on|Bitmap Heap Scan on`)
	// A step that the settings of the store's connections forbid, but which the plan contains because there is no other
	// way.
	disabled = regexp.MustCompile(`Scan .*\n(.*Cond:.*\n|.*Filter:.*\n)*\s+Disabled: true|Scan .*cost=1\d{10}`)
	sorts    = regexp.MustCompile(`Sort {2}\(cost`)
	// A join condition that the inner side does not use as an index condition: all rows of the inner side are read for
	// each row of the outer one.
	turned = regexp.MustCompile(`Join Filter:`)
)

func (p *plan) check(t *testing.T, steps string) {
	t.Helper()
	if p.mayScan == "" && (scans.MatchString(steps) || disabled.MatchString(steps)) {
		t.Errorf("scans a table:\n%s", steps)
	}
	if p.mayFilter == "" && turned.MatchString(steps) {
		t.Errorf("joins without an index:\n%s", steps)
	}
	if p.maySort == "" && sorts.MatchString(steps) {
		t.Errorf("sorts:\n%s", steps)
	}
	for _, want := range p.through {
		if !regexp.MustCompile(want).MatchString(steps) {
			t.Errorf("does not go through %s:\n%s", want, steps)
		}
	}
}

// TestPlans checks the plans on empty tables without statistics, and with statistics of tables of several sizes. An
// analysis of small tables makes the server plan again, and the plan stays while the tables grow. An operator's ANALYZE
// also makes statistics of the partitioned tables, the automatic one does not.
func TestPlans(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		check := func(state string, empty bool) {
			for _, p := range plans() {
				if !empty || p.mayVary == "" {
					t.Run(p.what+"/"+state, func(t *testing.T) { p.check(t, explain(t, s, p.sql)) })
				}
			}
		}
		check("new", false)
		for _, rows := range []int{0, 200, 2_000, 20_000, 50_000} {
			seed(t, s, rows)
			if rows > 0 {
				claimShardsOf(t, s, shard.Block{Count: 1024})
			}
			analyzeLeaves(t, inside)
			check(fmt.Sprintf("rows=%d", rows), rows == 0)
		}
		execute(t, inside, "VACUUM ANALYZE")
		check("analyzed parents", false)
		ref := putOf("seed-1", now).Ref
		only := func(int) store.Ref { return ref }
		if pages := pagesRead(t, s, lockTimers, [][]byte{refShards(1, only), refUUIDs(1, only)}); pages > 10 {
			t.Errorf("%d pages are read for one row, so more than its partition is searched", pages)
		}
	})
}

// analyzeLeaves analyzes all tables that are not partitioned, as autovacuum does.
func analyzeLeaves(t *testing.T, inside string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), inside)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	var names string
	err = c.QueryRow(t.Context(), `SELECT string_agg(oid::regclass::text, ', ') FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`).Scan(&names)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, inside, "VACUUM ANALYZE "+names)
}

func claimShardsOf(t *testing.T, s *Store, block shard.Block) []store.Claimed {
	t.Helper()
	claimed, err := s.Claim(t.Context(), now, store.Owner{Incarnation: timer.UUID{1}, Node: "test"}, block.In(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

// TestPlansAreRead checks that the regular expressions find scans and sorts.
func TestPlansAreRead(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		s := openStore(t, migrated(t, address))
		steps := explain(t, s, "SELECT shard_id FROM timers WHERE updated_at > $1::timestamptz ORDER BY updated_at")
		if !scans.MatchString(steps) || !disabled.MatchString(steps) || !sorts.MatchString(steps) {
			t.Errorf("a scan and a sort are not seen in:\n%s", steps)
		}
	})
}

// explain returns the generic plan, which all connections of the store use.
func explain(t *testing.T, s *Store, sql string) (steps string) {
	t.Helper()
	err := s.pool.AcquireFunc(t.Context(), func(c *pgxpool.Conn) error {
		steps = explainOn(t, c.Conn(), sql)
		_, err := c.Exec(t.Context(), "DEALLOCATE explained")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// explainOn does not deallocate the statement.
func explainOn(t *testing.T, c *pgx.Conn, sql string) string {
	t.Helper()
	if _, err := c.Exec(t.Context(), "PREPARE explained AS "+sql); err != nil {
		t.Fatal(err)
	}
	rows, err := c.Query(t.Context(),
		"SELECT format_type(p, NULL) FROM pg_prepared_statements, unnest(parameter_types::oid[]) AS p WHERE name = 'explained'")
	if err != nil {
		t.Fatal(err)
	}
	types, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	args := make([]string, len(types))
	for i, typ := range types {
		args[i] = literal(typ)
	}
	command := "EXPLAIN EXECUTE explained"
	if len(args) > 0 {
		command += "(" + strings.Join(args, ", ") + ")"
	}
	rows, err = c.Query(t.Context(), command, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// literal returns a value of a type. The plan of a statement that prunes partitions needs one.
func literal(typ string) string {
	if element, isArray := strings.CutSuffix(typ, "[]"); isArray {
		return "ARRAY[" + literal(element) + "]::" + typ
	}
	values := map[string]string{
		"bigint": "1", "integer": "1", "boolean": "true", "text": "'x'", "bytea": "'x'",
		"uuid": "'75150000-0000-5000-8000-000000000000'", "timestamp with time zone": "'2027-01-15'",
	}
	return values[typ] + "::" + typ
}
