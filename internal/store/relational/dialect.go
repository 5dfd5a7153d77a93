package relational

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Dialect is what differs between the statements of the engines. Conditions and table names of a dialect call the table
// of live timers t and that of history h.
type Dialect struct {
	// Mark is the prefix of the numbers of parameters: $1, $2, … or ?1, ?2, … If Unnumbered is set, each parameter is
	// Mark only, and a parameter that occurs twice is passed twice.
	Mark       string
	Unnumbered bool
	// Types are the types to which parameters are cast, by the parameters' names.
	Types map[string]string

	// Shard, UUID and Timeout are columns of the tables of live timers and of history, and History is the table of
	// history. RowID is a column by which a live row is found faster than by its key. It may be empty.
	Shard, UUID, Timeout, History, RowID string
	// Offset and Partition are columns of the table of positions, quoted if the engine requires it.
	Offset, Partition string
	// PollAt is the column by which the index of polls orders a shard's rows. It is due_at in rows that are not parked. If it
	// is not due_at itself, it is NULL in parked rows. DueIndex follows the name of the table; it is empty, or names that index.
	PollAt, DueIndex string
	// ByName is the name of a namespace, ordered as bytes.
	ByName string
	// ByFlowKey is the key of a flow, ordered as bytes.
	ByFlowKey string
	// NotScheduled is a condition that precedes the condition of a status other than scheduled, followed by AND. It is
	// empty, or the condition of a partial index that the engine uses only if the statement contains it word for word.
	NotScheduled string
	// Unexpired is the condition that history has not expired at @now.
	Unexpired string
	// ParkedIndex, ParkedOutboxIndex and DeadOutboxIndex follow the name of a table. They are empty, or name an index
	// that the engine would not choose.
	ParkedIndex, ParkedOutboxIndex, DeadOutboxIndex string
	// ParkedOutbox and DeadOutbox are conditions that every row with an outbox entry matches, followed by AND. They are empty
	// if the engine finds these rows without them.
	ParkedOutbox, DeadOutbox string
	// NoRowComparison is set if the engine does not search an index by a comparison of rows: (a, b) > (@a, @b).
	NoRowComparison bool
	// With and Block select the shards from @base to before @end, in their order, as column probed of table b. With is
	// the beginning of a statement, and Block is the table.
	With, Block string
	// Lookup joins the rows of a table that match a condition to each row of the tables before it, in the order of those
	// rows. It begins with the kind of join.
	Lookup func(columns, table, condition string) string
	// Lateral is set if the condition of Lookup may have ORDER BY and LIMIT, which apply to each row of the tables before it.
	Lateral bool
	// All follows ORDER BY in a subquery whose order the statement needs.
	All string
	// InShards is the condition after a column that the shard is one of @shards.
	InShards string
	// KeepCluster follows the INSERT of the cluster record, which does nothing if there is one.
	KeepCluster string
	// KeepFlow follows the INSERT of a flow, which does nothing if there is one.
	KeepFlow string
	// LockNamespaces is executed before a namespace is created or deleted, so that only one is at a time. It is empty if
	// the engine has only one writer.
	LockNamespaces string
	// Claims are the tables of claims and watermarks, and ClaimShard is their column of the shard.
	Claims     []string
	ClaimShard string
	// Inspect selects for each of @shards: its place in the list, from 1; the earliest due_at of a row that is not
	// parked; the claim's version, owner, node and claimed_at; and the keys W and P.
	// It is empty if the engine has its own Inspect.
	Inspect string
}

// Statement is a statement whose parameters have names in the source: @name.
type Statement struct {
	// Name is unique among the statements of this package.
	Name string
	SQL  string
	// Parameters are the names of the parameters, in the order of their numbers.
	Parameters []string
}

var parameter = regexp.MustCompile(`@[a-z_]+`)

// statement numbers the parameters of a statement and casts them.
func (d *Dialect) statement(name, sql string) *Statement {
	s := &Statement{Name: name}
	s.SQL = parameter.ReplaceAllStringFunc(sql, func(at string) string {
		name := at[1:]
		place := slices.Index(s.Parameters, name)
		if place < 0 || d.Unnumbered {
			place = len(s.Parameters)
			s.Parameters = append(s.Parameters, name)
		}
		text := d.Mark
		if !d.Unnumbered {
			text += strconv.Itoa(place + 1)
		}
		if typ := d.Types[name]; typ != "" {
			text += "::" + typ
		}
		return text
	})
	return s
}

// LiveColumns returns the columns of a live row that Row.Timer reads, in its order. prefix precedes each column. The
// outbox entry of a parked row is not part of the timer.
func (d *Dialect) LiveColumns(prefix string) string {
	return d.columns(prefix, "status", prefix+"attempts", prefix+"starts", "executed_at", "last_status", "last_error") +
		", coalesce(" + prefix + "planned_at, " + prefix + "due_at) AS planned_at"
}

// EndColumns returns the same columns of a history row: the timer after the attempt. They are valid for done and dead
// timers only.
func (d *Dialect) EndColumns(prefix string) string {
	return d.columns(prefix, "outcome", prefix+"attempt", "0", "started_at", "status_code", "error") +
		", " + prefix + "due_at AS planned_at"
}

func (d *Dialect) columns(prefix, status, attempts, starts, executed, code, text string) string {
	with := func(columns ...string) string { return prefix + strings.Join(columns, ", "+prefix) }
	return with(d.Shard, d.UUID, "namespace", "timer_id", "execute_at", "deliver", "callback_url", d.Timeout, "retry_policy",
		"payload", "correlation_id", status, "due_at", "revision", "generation") + ", " + attempts + ", " + starts + ", " +
		with("created_at", "updated_at", executed, code, text, "headers", "topic", "event_key", "options")
}

// compare compares columns with the parameters of a position: @from_… or @upto_…. operator is > or <=.
func (d *Dialect) compare(columns []string, operator, position string) string {
	names := []string{"shard", "uuid", "generation", "attempt"}[:len(columns)]
	if !d.NoRowComparison {
		return "(" + strings.Join(columns, ", ") + ") " + operator + " (@" + position + "_" + strings.Join(names, ", @"+position+"_") + ")"
	}
	var either []string
	equal := ""
	for i, column := range columns {
		strict := operator[:1]
		if i == len(columns)-1 {
			strict = operator
		}
		value := "@" + position + "_" + names[i]
		either = append(either, equal+column+" "+strict+" "+value)
		equal += column + " = " + value + " AND "
	}
	return "(" + strings.Join(either, " OR ") + ")"
}
