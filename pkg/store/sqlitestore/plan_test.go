package sqlitestore

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// plan is a statement and requirements on its query plan.
type plan struct {
	name, query string
	// through are index searches that the plan must contain.
	through []string
	// mayScan and maySort are the reasons why a scan of a big table, or a sort, is allowed.
	mayScan, maySort string
}

const (
	throughKey        = "timers_key (shard=? AND uuid=?)"
	throughDue        = "timers_due (shard=? AND (due_at,uuid)>(?,?))"
	throughRange      = "timers_due (shard=? AND due_at>? AND due_at<?)" // covered by the index
	throughHistoryKey = "history_key (shard=? AND uuid=?)"
	oneTimersHistory  = "sorts the history of one timer"
)

func plans() []plan {
	shared := statements.All()
	all := []plan{
		{name: "Current: read a row", query: selectLive, through: []string{throughKey}},
		{name: "Get of a live timer", query: shared["select_live"].SQL, through: []string{throughKey}},
		{name: "Get of a finished timer", query: shared["select_end"].SQL, through: []string{throughHistoryKey}, maySort: oneTimersHistory},
		{name: "Write: read a row", query: selectSlot, through: []string{throughKey}},
		{name: "Write: replace a row", query: replaceLive, through: []string{throughKey}},
		{name: "Write: delete a row", query: deleteLive, through: []string{throughKey}},
		{name: "Finish: read a row", query: selectBareSlot, through: []string{throughKey}},
		{name: "Write: read the last end", query: selectEnd, through: []string{throughHistoryKey}, maySort: oneTimersHistory},
		{name: "History", query: shared["select_history"].SQL, through: []string{throughHistoryKey}, maySort: oneTimersHistory},
		{name: "CountLive", query: shared["count_namespace"].SQL, through: []string{"COVERING INDEX timers_key (shard>? AND shard<?)"}},
		{name: "DueKeys", query: shared["due_keys"].SQL, through: []string{"timers_due (shard=? AND (due_at,uuid)>(?,?)"}},
		{name: "List by made correlation", query: shared["list_made"].SQL, through: []string{throughKey}},
		{name: "List finished by made correlation", query: shared["list_ends_made"].SQL, through: []string{throughHistoryKey}},
		{name: "List by due time: is a shard crowded", query: shared["list_due_crowded"].SQL, through: []string{throughRange}},
		{name: "List by due time: how far a page reaches", query: shared["list_due_reach"].SQL, through: []string{throughRange}},
		{name: "List by due time: how far parked timers reach", query: shared["list_parked_reach"].SQL, through: []string{"COVERING INDEX timers_status (status=? AND shard>? AND shard<?)"}},
		{name: "Due and Overdue: rows", query: selectDue, through: []string{throughDue}},
		{name: "Outbox: parked", query: shared["parked_outbox"].SQL, through: []string{"timers_marked (marked_at>? AND marked_at<?)"}},
		{name: "Outbox: dead", query: shared["dead_outbox"].SQL, through: []string{"history_marked (marked_at>? AND marked_at<?)"}},
		{name: "RemoveFromOutbox: parked", query: unmarkParked, through: []string{throughKey}},
		{name: "RemoveFromOutbox: dead", query: unmarkDead, through: []string{"history_key (shard=? AND uuid=? AND generation=? AND attempt=?)"}},
		{name: "Forget: final outcome", query: selectFinal, through: []string{"history_key (shard=? AND uuid=? AND generation=?)"}},
		{name: "Forget", query: deleteGeneration, through: []string{"history_key (shard=? AND uuid=? AND generation=?)"}},
		{name: "Purge", query: deleteExpired, through: []string{"history_expiry (expires_at<?)"}},
		{name: "Claim", query: upsertClaim},
		{name: "Release", query: releaseClaim},
		{name: "Advance", query: advanceWatermark},
		{name: "Count live", query: countLive, through: []string{"COVERING INDEX timers_key"}, mayScan: "adds up the lengths of an index's pages"},
		{name: "Count parked", query: countParked, through: []string{"COVERING INDEX timers_status (status=?)"}},
		{name: "Count dead", query: countDead, through: []string{"COVERING INDEX history_dead"}, mayScan: "scans an index of dead timers"},
		{name: "Count moved", query: countMoved, through: []string{"COVERING INDEX timers_moved"}, mayScan: "scans an index of moved rows"},
		{name: "Leased", query: selectLeases, through: []string{"timers_moved"}, mayScan: "scans an index of moved rows"},
		{name: "Count overdue", query: countOverdue, through: []string{"timers_due (shard=? AND due_at<?)", "timers_due (shard>?)"}},
	}
	for walk, through := range map[string]string{
		"list_live":      "timers_key ((shard,uuid)>(?,?)",
		"list_parked":    "timers_status (status=? AND (shard,uuid)>(?,?)",
		"list_retrying":  "timers_status (status=? AND (shard,uuid)>(?,?)",
		"list_same":      "timers_correlation (correlation_id=?",
		"list_ends":      "history_key ((shard,uuid,generation,attempt)>",
		"list_dead":      "history_dead ((shard,uuid,generation,attempt)>",
		"list_ends_same": "history_correlation (correlation_id=?",
	} {
		all = append(all,
			plan{name: walk + ": rows", query: shared[walk].SQL, through: []string{through}},
			plan{name: walk + ": bound", query: shared[walk+"_bound"].SQL, through: []string{"COVERING INDEX " + through}})
	}
	const sortsRange = "sorts the index entries of the range, whose number is bounded"
	byDue := []string{throughRange, "timers_status (status=? AND"}
	all = append(all,
		plan{name: "List by due time: rows", query: shared["list_due"].SQL, through: append(byDue, "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"), maySort: sortsRange},
		plan{name: "List by due time: bound", query: shared["list_due_bound"].SQL, through: byDue, maySort: sortsRange})
	for _, size := range valuesSizes {
		all = append(all,
			plan{name: fmt.Sprintf("Due and Overdue: first look, %d", size), query: selectFirstOf[size], through: []string{throughDue}},
			plan{name: fmt.Sprintf("Current, %d", size), query: selectCurrentOf[size], through: []string{throughKey}})
	}
	for statement, both := range guardedBy {
		verb := strings.Join(strings.Fields(statement)[:5], " ")
		all = append(all,
			plan{name: "Finish by generation: " + verb, query: both.generation, through: []string{throughKey}},
			plan{name: "Finish by revision: " + verb, query: both.revision, through: []string{throughKey}})
	}
	return all
}

var (
	bigScan = regexp.MustCompile(`SCAN (t\b|h\b|n\b|timers|history|shards|s\b)`)
	sorts   = regexp.MustCompile(`USE TEMP B-TREE`)
)

func TestPlans(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	seed(t, s, 10_000)
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			execute(t, s, "ANALYZE")
		}
		for _, p := range plans() {
			t.Run(fmt.Sprintf("%s/analyzed=%t", p.name, analyzed), func(t *testing.T) { p.check(t, explain(t, s, p.query)) })
		}
	}
}

func (p plan) check(t *testing.T, steps string) {
	t.Helper()
	if p.mayScan == "" && bigScan.MatchString(steps) {
		t.Errorf("scans a table:\n%s", steps)
	}
	if p.maySort == "" && sorts.MatchString(steps) {
		t.Errorf("sorts:\n%s", steps)
	}
	for _, want := range p.through {
		if !strings.Contains(steps, want) {
			t.Errorf("does not go through %s:\n%s", want, steps)
		}
	}
}

// TestPlansAreRead checks that the regular expressions find scans and sorts.
func TestPlansAreRead(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	if steps := explain(t, s, "SELECT shard FROM timers WHERE updated_at > ? ORDER BY updated_at"); !bigScan.MatchString(steps) || !sorts.MatchString(steps) {
		t.Errorf("a scan and a sort are not seen in:\n%s", steps)
	}
}

func explain(t *testing.T, s *Store, query string) string {
	t.Helper()
	var steps strings.Builder
	err := s.read(t.Context(), "explain", func(c *conn) error {
		return c.each(func(rows *sql.Rows) error {
			var id, parent, unused int
			var detail string
			err := rows.Scan(&id, &parent, &unused, &detail)
			fmt.Fprintln(&steps, detail)
			return err
		}, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps.String()
}

// seed writes n timers. A tenth of them is parked, a tenth done, and a tenth dead.
func seed(tb testing.TB, s *Store, n int) {
	tb.Helper()
	var ops []store.Op
	var items []store.Finish
	for i := range n {
		p := putOf(fmt.Sprint("seed-", i), now+timer.Millis(i%997))
		if i%7 == 0 {
			p.Spec.CorrelationID = fmt.Sprint("correlation-", i%11)
		}
		ops = append(ops, p)
		kinds := [...]store.FinishKind{store.FinishDone, store.FinishDead, store.FinishParked}
		if i%10 < len(kinds) {
			items = append(items, finishOf(p, kinds[i%10]))
		}
	}
	if _, err := s.Write(tb.Context(), now, ops); err != nil {
		tb.Fatal(err)
	}
	if _, err := s.Finish(tb.Context(), now, items); err != nil {
		tb.Fatal(err)
	}
}
