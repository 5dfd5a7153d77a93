package store

import (
	"context"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Timers is what ingest needs.
type Timers interface {
	// Write applies the operations, each atomically, those on one timer in their order. See Put,
	// Update and Delete for what each does and answers.
	//
	// PostgreSQL: creates go as one INSERT … SELECT FROM unnest(…) ON CONFLICT DO NOTHING RETURNING;
	// what is left locks its rows, is applied in memory, and is written set-based. DynamoDB: one conditional write per operation,
	// in parallel, those on one timer one after another.
	Write(ctx context.Context, now timer.Millis, ops []Op) ([]Written, error)

	// Get returns the timer, or else the last final outcome in its history (status done or dead,
	// not yet purged and not expired at now), or ErrNotFound. A finished timer is the row as it last
	// was (its last revision, generation and due_at), with what the attempt made of it: status,
	// attempts, starts 0, updatedAt, executedAt, last status and error. A done timer's payload may be
	// left out.
	//
	// PostgreSQL: by (shard, uuid), then the newest final row of timer_history by (shard, uuid).
	// DynamoDB: GetItem, then a Query of the history table, newest first, limit 1.
	Get(ctx context.Context, now timer.Millis, ref Ref) (timer.Timer, error)

	// List returns one page of a namespace's timers in an order that the engine chooses. A timer does not
	// change its position while it exists, also when its due time changes. So a walk over all pages sees
	// every timer that is selected during the whole walk exactly once. Payloads are included, at most
	// MaxPageBytes of them in a page. A page may hold fewer timers than the limit, even none, and still
	// have a Next, because engines bound the rows that they look at.
	//
	// PostgreSQL and SQLite: by (shard, uuid) over the namespace's block of shards, through the index
	// that serves the filter. DynamoDB: a Query per shard, one after another, by sort key.
	List(ctx context.Context, now timer.Millis, q ListQuery) (Page, error)

	// History returns the attempts of a timer, newest first by (finishedAt, attempt), at most limit
	// (1 to 1,000), that have not expired at now.
	//
	// PostgreSQL: by (shard, uuid) in timer_history. DynamoDB: one Query of the history table.
	History(ctx context.Context, now timer.Millis, ref Ref, limit int) ([]HistoryEntry, error)
}

// Op is one of Put, Update and Delete.
type Op interface{ op() }

// Put creates a timer, or deals with the one that has its id as OnConflict says. The row becomes:
// status scheduled, due_at = plannedAt = max(now, Spec.ExecuteAt), revision = generation = Revision, attempts and
// starts 0, nothing executed yet; createdAt is now, or the replaced row's. A parked row is replaced
// like any other, with its mark; a dead row in history keeps its own (I14).
type Put struct {
	Ref       Ref
	Namespace string
	ID        string
	Revision  timer.Revision
	// Spec has been checked by the caller.
	Spec       timer.Spec
	OnConflict OnConflict
}

// OnConflict says what a Put does when the id is taken.
type OnConflict int

const (
	// Replace makes the timer anew, whatever it was.
	Replace OnConflict = iota
	// Keep leaves the timer as it is and succeeds; a finished timer that is still in history counts
	// as being there, so that a create sent twice does not fire twice.
	Keep
	// Fail leaves the timer as it is and answers ErrExists; finished ones count as for Keep.
	Fail
)

// Update lays a patch over a timer and starts a new generation at attempt 1: status scheduled (a
// parked one lives again), attempts and starts 0. due_at and plannedAt are those of Times.
// Answers: ErrNotFound, also for finished timers; ErrConflict if IfGeneration is given and another;
// ErrInvalid if the result is not acceptable. In all three nothing is written. Everything else of the
// row stays, such as createdAt and what is known of the last attempt.
type Update struct {
	Ref          Ref
	Revision     timer.Revision
	Patch        timer.Patch
	IfGeneration timer.Generation // 0: any
}

// Times returns due_at and plannedAt after the update of a row; executeAt is the one after the update. If the patch
// sets executeAt, both are max(now, executeAt). So they are if the row was leased, which means that its last write was a
// lease, and it is not parked: the running delivery has the old state, and due_at is only the end of the lease. Otherwise
// due_at is max(now, the present one), and plannedAt is kept, except that of a parked row, which becomes due_at.
func (u Update) Times(now timer.Millis, prior *timer.Timer, leased bool, executeAt timer.Millis) (dueAt, plannedAt timer.Millis) {
	dueAt = max(now, executeAt)
	parked := prior.Status == timer.StatusParked
	if u.Patch.ExecuteAt != nil || leased && !parked {
		return dueAt, dueAt
	}
	dueAt = max(dueAt, prior.DueAt)
	if parked {
		return dueAt, dueAt
	}
	return dueAt, prior.PlannedAt
}

// Delete removes a timer. No history is written.
// Answers: ErrNotFound, also for finished timers; ErrConflict as for Update.
type Delete struct {
	Ref          Ref
	IfGeneration timer.Generation // 0: any
}

func (Put) op()    {}
func (Update) op() {}
func (Delete) op() {}

// Written answers one Op.
type Written struct {
	// Err is nil, ErrExists, ErrNotFound, ErrConflict or ErrInvalid, wrapped; or ErrUnavailable or
	// ErrOutcomeUnknown, of this operation alone.
	Err error
	// Timer is the state after a Put or Update, also when a Put kept or failed (then the state
	// found), and the state that a Delete removed. On ErrConflict, the state found.
	Timer timer.Timer
	// Kept: a Put with Keep found the timer and changed nothing.
	Kept bool
	// Prior is the live state that was replaced, updated or deleted; nil if there was none or
	// nothing was written. Its payload may be left out.
	Prior *timer.Timer
}

// ListQuery selects timers of one namespace. All given filters must hold.
type ListQuery struct {
	Namespace Namespace
	// Status, if not empty, selects by status. Without it, live timers are listed (scheduled,
	// retrying, parked); done and dead ones come from history, one entry for each finished
	// generation.
	Status timer.Status
	// CorrelationID, if not empty, selects by timer.Timer.Correlation.
	CorrelationID string
	// DueFrom and DueBefore, if not 0, select DueAt in [DueFrom, DueBefore). For finished timers,
	// by ExecuteAt.
	DueFrom, DueBefore timer.Millis
	// After is the Next of the page before, or empty.
	After Cursor
	// Limit is 1 to 1,000.
	Limit int
	// WithoutPayloads omits the payloads, which then do not count for MaxPageBytes either.
	WithoutPayloads bool
}

// Selects reports whether the query selects a timer of its namespace, as engines must.
func (q *ListQuery) Selects(t *timer.Timer) bool {
	at := t.DueAt
	if t.Status.Finished() {
		at = t.ExecuteAt
	}
	return (q.Status == t.Status || q.Status == "" && !t.Status.Finished()) &&
		(q.CorrelationID == "" || q.CorrelationID == t.Correlation()) &&
		(q.DueFrom == 0 || at >= q.DueFrom) && (q.DueBefore == 0 || at < q.DueBefore)
}

// Cursor is a place in a list. Only the engine that made it can read it; it stays good while timers
// come and go. Engines answer ErrInvalid to bytes that are not theirs.
type Cursor []byte

// MaxPageBytes bounds the payloads of one page of a list, in bytes. A page of a single timer may exceed it.
const MaxPageBytes = 8 << 20

// PageBytes counts the payloads of a page that an engine fills.
type PageBytes int

// Fits counts the timer's payload, unless the page then had more than MaxPageBytes.
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

// Outcome is what an attempt led to, as history tells it.
type Outcome string

const (
	OutcomeDone        Outcome = "done"
	OutcomeRescheduled Outcome = "rescheduled"
	OutcomeFailed      Outcome = "failed"
	OutcomeDead        Outcome = "dead"
)

// Final reports whether a generation ends with the outcome.
func (o Outcome) Final() bool { return o != OutcomeFailed }

// HistoryEntry is one attempt. (Ref, Generation, Attempt) is unique: a failed one gives way
// to whatever is written later for the same attempt, a final one to nothing.
type HistoryEntry struct {
	Ref        Ref
	Generation timer.Generation
	Attempt    timer.Attempt
	Outcome    Outcome
	// ExecuteAt is what the generation was asked for; NextAt the retry's or the rescheduled time as
	// Finish gave it, 0 for done and dead.
	ExecuteAt, NextAt     timer.Millis
	StartedAt, FinishedAt timer.Millis
	// StatusCode is the receiver's HTTP status, 0 if none came. Error is empty on success.
	StatusCode    int
	Error         string
	CorrelationID string
}

// Positions is a rare power, found through As: an engine that can store the position of the command
// topic in the same transaction as a batch has it. With it, a replayed command changes nothing;
// without it, topic commands are applied at least once.
type Positions interface {
	// WriteAt is Write in one transaction together with moving the position: all or nothing. If the
	// stored position is not move.From, it answers ErrConflict and writes nothing. Operations that
	// are refused by themselves (their Written.Err) do not hinder the others or the move. Without
	// operations, only the position moves.
	//
	// PostgreSQL: UPDATE … WHERE position = from in the batch's transaction. DynamoDB has no
	// transaction of such size and does not implement this.
	WriteAt(ctx context.Context, now timer.Millis, ops []Op, move Move) ([]Written, error)

	// Position returns the stored position of a topic's partition; zero if none is stored.
	Position(ctx context.Context, topic string, partition int) (Position, error)
}

// Move is a compare-and-set on a topic position.
type Move struct {
	Topic     string
	Partition int
	From, To  Position
}

// Position is how far a topic's partition has been applied: everything up to and including it.
type Position struct {
	// Incarnation tells a topic from an earlier one of the same name; larger is newer.
	Incarnation int64
	Offset      int64
}
