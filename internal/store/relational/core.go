package relational

import (
	"context"
	"errors"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Database is the engine's part of Core. Errors are those of store.Store, wrapped with op.
type Database interface {
	// Read calls run, which executes statements that take milliseconds. It may call run again after a failure.
	Read(ctx context.Context, op string, run func(Run) error) error
	// ReadLong is Read for statements that may take longer. Timers must not wait for them.
	ReadLong(ctx context.Context, op string, run func(Run) error) error
	// Write calls run in a transaction and commits if it returns nil. It may call run again after a failure.
	Write(ctx context.Context, op string, run func(Run) error) error
}

// Run executes statements, one after the other. After an error of the database, the caller returns it.
type Run func(calls ...Call) error

// Call is a statement, its parameters, and what is done with its answer.
type Call struct {
	Statement *Statement
	Values    Values
	// Row is called for each row of the answer. It is nil if there are none. If it returns ErrStop, the remaining rows
	// are skipped.
	Row func(Row) error
	// Changed, if not nil, is set to the number of rows that the statement changed.
	Changed *int64
}

// Values are the values of parameters, by name: int64, int32, string, timer.Millis, timer.UUID, []shard.ID, or nil.
type Values map[string]any

// Args returns the values of the statement's parameters in their order, each converted by argument.
func Args[T any](c *Call, argument func(value any) T) []T {
	args := make([]T, len(c.Statement.Parameters))
	for i, name := range c.Statement.Parameters {
		args[i] = argument(c.Values[name])
	}
	return args
}

// Row is a row of an answer. It is valid until the next one.
type Row interface {
	// Scan reads the columns into pointers to int64, string, []byte, timer.Millis and timer.UUID. If a column is NULL,
	// its pointer's value does not change.
	Scan(dest ...any) error
	// Timer reads the columns into dest, as Scan does, and then Dialect.LiveColumns or Dialect.EndColumns.
	Timer(dest ...any) (timer.Timer, shard.ID, error)
}

// ErrStop is returned by Call.Row.
var ErrStop = errors.New("stop")

// Core implements the methods of store.Store that are the same in all relational engines, for embedding.
type Core struct {
	db         Database
	statements *Statements
	cursors    Cursors
	limits     ListLimits
}

// Statements are the statements of Core in one dialect.
type Statements struct {
	all map[string]*Statement

	walks                                      map[Walk]walkStatements
	crowded, reach, parkedReach, made, endMade *Statement

	lockNamespaces, nextBase, insertNamespace, updateNamespace, selectNamespace, selectNamespaces *Statement
	keepBlock, deleteNamespace                                                                    *Statement
	deleteClaims                                                                                  []*Statement

	selectAPIKeys, selectAPIKey, insertAPIKey, updateAPIKey, deleteAPIKey *Statement

	selectFlow, selectFlows, insertFlow, updateFlow, deleteFlow *Statement

	live, end, history, countLive, dueKeys *Statement
	// keyShards is how many shards dueKeys reads.
	keyShards int

	inspect, parkedOutbox, deadOutbox, position, insertCluster, selectCluster *Statement
}

// NewStatements returns the statements of a dialect.
func NewStatements(d *Dialect) *Statements {
	s := &Statements{all: map[string]*Statement{}}
	prepare := func(name, sql string) *Statement {
		s.all[name] = d.statement(name, sql)
		return s.all[name]
	}
	s.addTimers(d, prepare)
	s.addWalks(d, prepare)
	s.addNamespaces(d, prepare)
	s.addAPIKeys(prepare)
	s.addFlows(d, prepare)
	s.addShards(d, prepare)
	s.addCluster(d, prepare)
	return s
}

// All returns the statements by name.
func (s *Statements) All() map[string]*Statement { return s.all }

// New returns a Core.
func New(db Database, s *Statements, c Cursors) *Core {
	return &Core{db: db, statements: s, cursors: c, limits: DefaultListLimits()}
}

// LimitLists changes the limits of lists.
func LimitLists(c *Core, limits ListLimits) { c.limits = limits }

// one is a read of one statement.
func one(c Call) func(Run) error { return func(run Run) error { return run(c) } }

// orNull stores an empty text as NULL.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// policies are used by one call only, because Core is used concurrently.
type policies = engine.Policies
