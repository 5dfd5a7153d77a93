package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Timers is the part that ingest uses.
type Timers interface {
	// Write applies the operations, each atomically. Operations on the same timer are applied in their order. Put,
	// Update and Delete document their effects and answers.
	//
	// PostgreSQL: creates are one INSERT … SELECT FROM unnest(…) ON CONFLICT DO NOTHING RETURNING. For the remaining
	// operations the engine locks the rows, applies the operations in memory, and writes the results in set-based
	// statements. DynamoDB: one conditional write per operation, in parallel; operations on the same timer run one
	// after another.
	Write(ctx context.Context, now timer.Millis, ops []Op) ([]Written, error)

	// Get returns the timer. If there is none, it returns the last final outcome in the timer's history (status done or
	// dead, not yet purged and not expired at now), or ErrNotFound. A finished timer has the fields of its last row
	// (last revision, generation and due_at) and the attempt's results: status, attempts, starts 0, updatedAt,
	// executedAt, last status and error. The payload of a done timer may be missing.
	//
	// PostgreSQL: by (shard, uuid), then the newest final row of timer_history by (shard, uuid). DynamoDB: GetItem,
	// then a Query of the timer's history.
	Get(ctx context.Context, now timer.Millis, ref Ref) (timer.Timer, error)

	// List returns one page of a namespace's timers in an order that the engine chooses. A timer's position in this
	// order never changes while the timer exists, even if its due time changes. So a walk over all pages returns every
	// timer that matches during the whole walk exactly once. Payloads are included, at most MaxPageBytes in a page. A
	// page may have fewer timers than the limit, even none, and still have a Next, because engines bound the number of
	// rows that they read. A filter that the engine does not support (DeclaredFilters) is ErrInvalid.
	//
	// PostgreSQL and SQLite: by (shard, uuid) over the namespace's block of shards, through the index that serves the
	// filter. DynamoDB: a Query per shard, one after another, by sort key.
	List(ctx context.Context, now timer.Millis, q ListQuery) (Page, error)

	// DueKeys returns the keys of a namespace's scheduled and retrying timers, over all its shards, in their order, after
	// q.After. A timer whose key does not change is neither missed nor repeated over pages. A page may have fewer keys
	// than the limit, but at least one, and still have More set.
	//
	// PostgreSQL, MySQL and SQLite: the first entries of each shard from the index that polls use: of each shard about its part of
	// the page, four standard deviations and five more (engine.KeysPerShard). MySQL and SQLite execute a statement for each
	// shard. DynamoDB: a Query of the index for each shard.
	DueKeys(ctx context.Context, q DueKeysQuery) (DueKeys, error)

	// CountLive returns the number of a namespace's timers that are scheduled, retrying, parked or paused. If there are limit or
	// more of them, it returns limit and reads no further.
	//
	// PostgreSQL and SQLite: a count over a range of the primary key with LIMIT. DynamoDB: a Query per shard that
	// returns only the count; it reads the items, so it costs as much as reading them.
	CountLive(ctx context.Context, ns Namespace, limit int) (int, error)

	// History returns the attempts of a timer that have not expired at now, newest first by (finishedAt, attempt), at
	// most limit (1 to 1,000).
	//
	// PostgreSQL: by (shard, uuid) in timer_history. DynamoDB: one Query of the history table.
	History(ctx context.Context, now timer.Millis, ref Ref, limit int) ([]HistoryEntry, error)
}

// Op is a Put, an Update, a Delete, a Pause or a Resume.
type Op interface{ op() }

// Put creates a timer. If a timer with the id exists, OnConflict selects what happens. The row becomes: status
// scheduled, due_at = plannedAt = max(now, Spec.ExecuteAt), revision = generation = Revision, attempts and starts 0, no
// execution results. createdAt is now, or that of the replaced row. A parked row is replaced like any other row, and
// its outbox entry is removed. A dead timer in history keeps its outbox entry (I14).
type Put struct {
	Ref       Ref
	Namespace string
	ID        string
	Revision  timer.Revision
	// Spec was validated by the caller.
	Spec       timer.Spec
	OnConflict OnConflict
}

// OnConflict selects what a Put does if the id exists.
type OnConflict int

const (
	// Replace replaces the timer, whatever its status.
	Replace OnConflict = iota
	// Keep leaves the timer unchanged and succeeds. A finished timer that is still in history counts as existing, so
	// that a create that is sent twice does not fire twice.
	Keep
	// Fail leaves the timer unchanged and answers ErrExists. Finished timers count as for Keep.
	Fail
)

// Update applies a patch to a timer and starts a new generation at attempt 1: status scheduled (also for a parked
// timer), attempts and starts 0. Times computes due_at and plannedAt. All other fields keep their values, for example
// createdAt and the results of the last attempt. Errors: ErrNotFound, also for finished timers; ErrConflict if
// IfGeneration is set and the timer has a different generation, or if UnlessPaused is set and the timer is paused; ErrInvalid if
// the patched timer is invalid. In all three cases nothing is written.
type Update struct {
	Ref          Ref
	Revision     timer.Revision
	Patch        timer.Patch
	IfGeneration timer.Generation // 0: any
	UnlessPaused bool
}

// Times returns due_at and plannedAt after the update of a row. executeAt is the value after the update. If the patch
// sets executeAt, both times are max(now, executeAt). They are also max(now, executeAt) if the row was leased (its last
// write was a lease) and is not parked or paused, because the running delivery has the old state and due_at is only the end of
// the lease. Otherwise due_at is max(now, executeAt, the present due_at), and plannedAt is kept; for a parked or paused
// row plannedAt becomes due_at.
func (u Update) Times(now timer.Millis, prior *timer.Timer, leased bool, executeAt timer.Millis) (dueAt, plannedAt timer.Millis) {
	dueAt = max(now, executeAt)
	if u.Patch.ExecuteAt != nil || leased && !prior.Status.Held() {
		return dueAt, dueAt
	}
	dueAt = max(dueAt, prior.DueAt)
	if prior.Status.Held() {
		return dueAt, dueAt
	}
	return dueAt, prior.PlannedAt
}

// Delete removes a timer. No history is written. Errors: ErrNotFound, also for finished timers; ErrConflict as for
// Update.
type Delete struct {
	Ref          Ref
	IfGeneration timer.Generation // 0: any
}

// Pause makes a scheduled or retrying timer paused: polls and sweeps do not read it, and its published due events miss at the row
// check, because it has a new revision. due_at becomes plannedAt, which becomes resumedFrom if an earlier resume assigned it.
// flowTurn is cleared. The
// generation, attempts, starts and results are kept, so the success of a running callback still ends the timer (I20). A timer that
// is already paused is not changed (Kept). A Put, an Update and FinishRescheduled change a paused timer as they would change another
// one, but it stays paused. Errors: ErrNotFound, also for finished timers; ErrConflict for a parked timer, or as for Update.
//
// Every engine stores a paused timer with the status parked, so its indexes serve both.
type Pause struct {
	Ref          Ref
	Revision     timer.Revision
	By, Note     string
	IfGeneration timer.Generation // 0: any
}

// Resume makes a paused timer scheduled, or retrying if it has attempts. Its generation is kept. If plannedAt has not passed,
// due_at becomes plannedAt. Otherwise resumedFrom becomes plannedAt, both times become max(now, At) + Delay, and Skip of the timer
// becomes Skip. A new generation clears resumedFrom and Skip, and
// a retry resumedFrom. A timer that is not paused is not changed (Kept). Errors:
// ErrNotFound, also for finished timers; ErrConflict as for Update.
type Resume struct {
	Ref      Ref
	Revision timer.Revision
	At       timer.Millis
	// Delay counts from At, or from the time of the write if that is later, so that timers which are resumed together become due
	// at a rate, even if the write takes long.
	Delay        time.Duration
	Skip         bool
	IfGeneration timer.Generation // 0: any
}

// Refuses returns the error if UnlessPaused does not allow the update of a timer, for engines.
func (u Update) Refuses(t *timer.Timer) error {
	if u.UnlessPaused && t.Status == timer.StatusPaused {
		return fmt.Errorf("update timer %s: it is %s: %w", t.UUID, t.Status, ErrConflict)
	}
	return nil
}

func (Put) op()    {}
func (Update) op() {}
func (Delete) op() {}
func (Pause) op()  {}
func (Resume) op() {}

// Apply pauses a timer in memory, for engines, and reports whether it changed.
func (p Pause) Apply(now timer.Millis, t *timer.Timer) (changed bool, err error) {
	switch {
	case t.Status == timer.StatusPaused:
		return false, nil
	case t.Status.Held():
		return false, fmt.Errorf("pause timer %s: it is %s: %w", t.UUID, t.Status, ErrConflict)
	}
	t.Status = timer.StatusPaused
	t.Pause = &timer.Pause{By: p.By, Note: p.Note, At: now}
	t.FlowTurn = 0
	if t.ResumedFrom != 0 {
		t.PlannedAt, t.ResumedFrom, t.Skip = t.ResumedFrom, 0, false
	}
	t.DueAt = t.PlannedAt
	t.Revision, t.UpdatedAt = p.Revision, now
	return true, nil
}

// Apply resumes a timer in memory, for engines, and reports whether it changed.
func (r Resume) Apply(now timer.Millis, t *timer.Timer) (changed bool) {
	if t.Status != timer.StatusPaused {
		return false
	}
	t.Status, t.Pause = timer.StatusScheduled, nil
	if t.Attempts > 0 {
		t.Status = timer.StatusRetrying
	}
	if t.PlannedAt <= now {
		t.ResumedFrom, t.Skip = t.PlannedAt, r.Skip
		t.PlannedAt = min(max(now, r.At).Add(r.Delay), timer.MaxMillis)
	}
	t.DueAt = t.PlannedAt
	t.Revision, t.UpdatedAt = r.Revision, now
	return true
}

// KeepPause makes a timer that replaces a paused one paused.
func KeepPause(t, prior *timer.Timer) {
	if prior.Status == timer.StatusPaused {
		t.Status, t.Pause = timer.StatusPaused, prior.Pause
	}
}

// Written is the answer to one Op.
type Written struct {
	// Err is nil, ErrExists, ErrNotFound, ErrConflict or ErrInvalid, wrapped. It is ErrUnavailable or ErrOutcomeUnknown
	// if only this operation failed that way.
	Err error
	// Timer is the state after a Put, Update, Pause or Resume, and the state that a Delete removed. If a Put kept the timer or
	// answered ErrExists, and on ErrConflict, it is the state found.
	Timer timer.Timer
	// Kept is set if a Put with Keep found the timer, a Pause a paused one, or a Resume one that is not paused: nothing changed.
	Kept bool
	// Prior is the live state that was replaced, updated or deleted. It is nil if there was none or nothing was
	// written. Its payload may be missing.
	Prior *timer.Timer
}

// ListQuery selects timers of one namespace. A timer must match all filters that are set.
type ListQuery struct {
	Namespace Namespace
	// Status, if not empty, selects by status. If it is empty, live timers are listed (scheduled, retrying, parked, paused).
	// Done and dead timers are read from history, with one entry for each finished generation.
	Status timer.Status
	// CorrelationID, if not empty, selects by timer.Timer.Correlation.
	CorrelationID string
	// DueFrom and DueBefore, if not 0, select timers with DueAt in [DueFrom, DueBefore). For finished timers they apply
	// to ExecuteAt.
	DueFrom, DueBefore timer.Millis
	// After is the Next of the previous page. It is empty for the first page.
	After Cursor
	// Limit is 1 to 1,000.
	Limit int
	// WithoutPayloads omits the payloads, which then do not count for MaxPageBytes either.
	WithoutPayloads bool
	// InDueOrder lists scheduled and retrying timers in the order of their keys, over all shards, instead of in the
	// engine's order. Only timers that do not move during the walk are certain to be listed once. Status must be empty,
	// scheduled or retrying, and CorrelationID must be empty.
	InDueOrder bool
}

// Selects reports whether a timer of the query's namespace matches. Engines must select the same timers.
func (q *ListQuery) Selects(t *timer.Timer) bool {
	at := t.DueAt
	if t.Status.Finished() {
		at = t.ExecuteAt
	}
	return (q.Status == t.Status || q.Status == "" && !t.Status.Finished()) &&
		(q.CorrelationID == "" || q.CorrelationID == t.Correlation()) &&
		(q.DueFrom == 0 || at >= q.DueFrom) && (q.DueBefore == 0 || at < q.DueBefore)
}

// DueKeysQuery selects the keys of timers of one namespace.
type DueKeysQuery struct {
	Namespace Namespace
	// After is the last key of the previous page; MinKey for the first one.
	After Key
	// Before, if not 0, ends the keys: DueAt is before it.
	Before timer.Millis
	// Limit is 1 to MaxDueKeys.
	Limit int
}

// MaxDueKeys is the largest DueKeysQuery.Limit.
const MaxDueKeys = 20_000

// DueKey is the key of a timer and its shard.
type DueKey struct {
	Key

	Shard shard.ID
}

// DueKeys is one page of keys.
type DueKeys struct {
	Keys []DueKey
	// More is set if there may be further keys. Then there is at least one key, and the next page begins after the last one.
	More bool
}

// Cursor is a position in a list. Its format is private to the engine. It stays valid while timers are created and
// removed. Engines answer ErrInvalid if the bytes are not one of their cursors.
type Cursor []byte

// MaxPageBytes bounds the payloads of one page of a list, in bytes. A page with a single timer may exceed it.
const MaxPageBytes = 8 << 20

// PageBytes is the sum of the payload sizes of a page that an engine fills, in bytes.
type PageBytes int

// Fits reports whether the page has room for the timer's payload, and if so adds its size. The first payload of a page
// always fits.
func (b *PageBytes) Fits(t *timer.Timer) bool { return b.fits(len(t.Payload)) }

func (b *PageBytes) fits(size int) bool {
	sum := int(*b) + size
	if *b > 0 && sum > MaxPageBytes {
		return false
	}
	*b = PageBytes(sum)
	return true
}

// Page is one page of a list.
type Page struct {
	Timers []timer.Timer
	// Next is empty on the last page.
	Next Cursor
}

// Outcome is the result of an attempt, as recorded in history.
type Outcome string

const (
	OutcomeDone        Outcome = "done"
	OutcomeRescheduled Outcome = "rescheduled"
	OutcomeFailed      Outcome = "failed"
	OutcomeDead        Outcome = "dead"
	// OutcomeExpired is never stored. Reported returns it for a dead timer that was not delivered because it had expired.
	OutcomeExpired Outcome = "expired"
)

// Reported returns the outcome that users see. err is the error of the same attempt.
func (o Outcome) Reported(err string) Outcome {
	if o == OutcomeDead && strings.HasPrefix(err, timer.ExpiredError) {
		return OutcomeExpired
	}
	return o
}

// Final reports whether the outcome ends its generation.
func (o Outcome) Final() bool { return o != OutcomeFailed }

// HistoryEntry is one attempt. (Ref, Generation, Attempt) is unique: a later entry for the same attempt replaces a
// failed one, but never a final one.
type HistoryEntry struct {
	Ref        Ref
	Generation timer.Generation
	Attempt    timer.Attempt
	Outcome    Outcome
	// ExecuteAt is the time requested for the generation. NextAt is Finish.NextAt of a retry or a reschedule, 0 for
	// done and dead.
	ExecuteAt, NextAt     timer.Millis
	StartedAt, FinishedAt timer.Millis
	// StatusCode is the receiver's HTTP status, 0 if there was no response. Error is empty on success.
	StatusCode    int
	Error         string
	CorrelationID string
}

// Positions is an optional capability, found through As, of engines that can store the position of the command topic in
// the same transaction as a batch. With it, a replayed command changes nothing. Without it, topic commands are applied
// at least once.
type Positions interface {
	// WriteAt applies a Write and moves the position in one transaction: all or nothing. If the stored position is not
	// move.From, it answers ErrConflict and writes nothing. An operation that is refused (its Written.Err is set)
	// affects neither the other operations nor the move. If there are no operations, only the position moves.
	//
	// PostgreSQL: a conditional upsert of the position in the batch's transaction. DynamoDB does not implement this,
	// because its transactions are too small.
	WriteAt(ctx context.Context, now timer.Millis, ops []Op, move Move) ([]Written, error)

	// Position returns the stored position of a topic's partition, or the zero value if none is stored.
	Position(ctx context.Context, topic string, partition int) (Position, error)
}

// Move is a compare-and-set on a topic position.
type Move struct {
	Topic     string
	Partition int
	From, To  Position
}

// Position is the position of the last applied message of a topic's partition. All messages up to and including it are
// applied.
type Position struct {
	// Epoch is the topic epoch. It distinguishes a topic from an earlier topic with the same name. A newer topic
	// has a larger value.
	Epoch  int64
	Offset int64
}
