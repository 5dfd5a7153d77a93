package store

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Outcomes is the part that the dispatcher uses.
type Outcomes interface {
	// Current is the row check (I7): for each item, it returns the timer's current state, if the timer exists. If
	// CountStart is set and the row has the item's revision, Current increments the row's starts in the same atomic
	// step and changes nothing else: not revision, due_at or updatedAt (I13). If the engine has no disk space to count
	// a start, it returns the row with Counted unset instead of an error.
	//
	// PostgreSQL: one SELECT … JOIN unnest by (shard, due_at, uuid), and a second one by (shard, uuid) for rows that
	// have moved; counted items are one UPDATE … RETURNING. DynamoDB: consistent BatchGetItem, and a conditional
	// UpdateItem for each counted item.
	Current(ctx context.Context, checks []Check) ([]Checked, error)

	// Finish writes outcomes, each by compare-and-set with its Guard. Outcomes of the same timer are applied in their
	// order. FinishKind documents the effects. Where a kind moves the row, its due_at becomes max(now, executeAt,
	// NextAt). Where a kind uses an attempt, plannedAt becomes that due_at, and executedAt, last status and last error
	// become those of the record. Item answers: nil, ErrConflict (the row exists and does not match; neither the row
	// nor history was written) or ErrNotFound (no row).
	//
	// The final outcome of a timer (FinishDone, FinishDead) is ordered after the final outcomes of earlier timers with
	// the same id, even if the clock of their writer was ahead: if history has an unexpired final outcome whose
	// finishedAt is not before the record's, this outcome's finishedAt is a millisecond after it. Engines compare only
	// if the row was last written less than EndMargin before the record's finishedAt, and only with the 100 newest
	// entries by generation. The time of a write is that of its request: a Write that took about EndMargin may be ordered
	// before a final outcome that precedes it by less than the clock bound.
	//
	// PostgreSQL: final outcomes are one DELETE … USING unnest by (shard, due_at, uuid) with the INSERT into history in
	// the same statement. For the remaining items (not found by this key, or of another kind) the engine locks the rows
	// by (shard, uuid), applies the items in memory, and writes the results in set-based statements, never by a range.
	// DynamoDB: a conditional write each, and TransactWriteItems where history or a follow-up is written too.
	Finish(ctx context.Context, now timer.Millis, items []Finish) ([]error, error)

	// Rearm schedules a dead timer, a done one whose payload history has kept (Record.KeepPayload), or a parked one again: a
	// new generation = Revision, attempt 1, starts 0, due at max(now, ExecuteAt). Its local time is cleared. createdAt and the results
	// of the last attempt are kept. A timer is dead or done if Get returns it as such. Its history row and outbox entry are kept.
	// Errors as for Write: ErrNotFound if the timer is not live, and neither dead nor done with its payload; ErrConflict if it is live and
	// not parked, or if IfGeneration is set and the timer has a different generation.
	//
	// PostgreSQL: the engine locks the rows, reads the final outcomes of the missing ones, applies the items in memory,
	// and writes the results in set-based statements. DynamoDB: a Get and a conditional Put; for dead and done timers a
	// placeholder is written first.
	Rearm(ctx context.Context, now timer.Millis, items []Rearm) ([]Written, error)

	// Forget removes finished timers before they expire: of each item, the final outcome (done or dead) of the generation
	// and the generation's earlier attempts. It never changes a live row, so a timer that was re-armed or created again
	// stays. Item answers: nil, ErrNotFound (history has no unexpired final outcome of this generation) or ErrConflict
	// (the outcome has an outbox entry, so its event is not published yet (I14); nothing is removed).
	//
	// PostgreSQL: a SELECT of the final outcomes and a DELETE by (shard, uuid, generation) in one transaction. DynamoDB: a
	// Query of the generation and a DeleteItem for each attempt, the final one last. If a later one fails, the item's
	// answer is ErrOutcomeUnknown, and a repetition removes the remaining ones.
	Forget(ctx context.Context, now timer.Millis, items []Forget) ([]error, error)

	// Purge removes history that expired at now, at most limit rows, except rows that have an outbox entry. It returns
	// how many rows it removed.
	//
	// PostgreSQL drops partitions of days that are over, and deletes the other expired rows. DynamoDB removes history
	// by the table's TTL, and Purge returns 0.
	Purge(ctx context.Context, now timer.Millis, limit int) (int, error)
}

// Check is one row check.
type Check struct {
	Ref Ref
	// DueAt is the row's due_at in the due event. Engines that sort rows by due_at look there first.
	DueAt    timer.Millis
	Revision timer.Revision
	// CountStart counts a start: the delivery is of a timer that may have killed its dispatcher (I13).
	CountStart bool
}

// Checked answers one Check.
type Checked struct {
	// Err is nil if the row was read. ErrUnavailable: the row was not read, and no start was counted.
	// ErrOutcomeUnknown: a start may have been counted.
	Err error
	// Found is set if the timer exists, parked or not. Timer is its state, payload included, with Starts as before this
	// call.
	Found bool
	Timer timer.Timer
	// Counted is set if the start was counted, so the row had the item's revision.
	Counted bool
}

// Matches reports whether the timer exists and has the given revision.
func (c *Checked) Matches(r timer.Revision) bool { return c.Found && c.Timer.Revision == r }

// FinishKind is the effect of a Finish on the row.
type FinishKind int

const (
	// FinishDone removes the row and its outbox entry, and writes history "done".
	FinishDone FinishKind = iota + 1
	// FinishRescheduled starts a new generation = Next at NextAt, which becomes executeAt without a local time: status scheduled,
	// attempts and starts 0. It writes history "rescheduled".
	FinishRescheduled
	// FinishRetry moves the row to NextAt: status retrying (a paused row stays paused), attempts = the record's attempt, starts 0.
	// It writes history "failed".
	FinishRetry
	// FinishLeased moves the row to NextAt while the callback runs, and increments starts if CountStart is set. Status,
	// plannedAt, last error and outbox entry are kept. It writes no history.
	FinishLeased
	// FinishPostponed moves the row to NextAt and uses no attempt. It decrements starts if ReturnStart is set, and sets flowTurn if
	// FlowTurn is set. Status, plannedAt, last error and outbox entry are kept. It writes no history. The other kinds, except
	// FinishLeased and FinishParked, clear flowTurn.
	FinishPostponed
	// FinishDead removes the row and writes the complete timer into history as "dead", with an outbox entry.
	FinishDead
	// FinishParked makes the row parked and writes an outbox entry. Due and Overdue do not return parked rows.
	// LastError becomes the record's Error. due_at, attempts and starts are kept. It writes no history. For a
	// paused row the answer is ErrConflict.
	FinishParked
)

// Guard is the condition of a Finish. Exactly one of the two fields is set.
type Guard struct {
	Generation timer.Generation
	Revision   timer.Revision
}

// Holds reports whether a row in this state matches the condition.
func (g Guard) Holds(t *timer.Timer) bool {
	if g.Revision != 0 {
		return t.Revision == g.Revision
	}
	return t.Generation == g.Generation
}

// Finish is one outcome.
type Finish struct {
	Ref Ref
	// DueAt is the row's due_at as last known to the dispatcher. Engines that sort rows by due_at look there first.
	DueAt timer.Millis
	Kind  FinishKind
	If    Guard
	// Next is the row's new revision. FinishDone and FinishDead do not use it.
	Next timer.Revision
	// NextAt is when the row is due next, for the kinds that move it.
	NextAt timer.Millis
	// CountStart is for FinishLeased: it increments the row's starts.
	CountStart bool
	// ReturnStart is for FinishPostponed: it decrements the row's starts, unless they are 0.
	ReturnStart bool
	// FlowTurn is for FinishPostponed: it becomes the row's, unless it is 0.
	FlowTurn timer.Millis
	// Record describes the attempt. FinishParked uses only its Error. FinishLeased and FinishPostponed do not use it.
	Record Record
	// FollowUp, if it is set, is written in the same transaction as a FinishDone, FinishDead or FinishRescheduled: both are applied,
	// or neither. Its timer is in the same shard, and its id occurs in no other operation of the batch. It replaces a timer with its
	// id.
	FollowUp *Put
	// ScheduleState is for FinishRescheduled: it becomes the row's.
	ScheduleState string
}

// Record is the description of an attempt that the row and history store.
type Record struct {
	Attempt               timer.Attempt
	StartedAt, FinishedAt timer.Millis
	StatusCode            int
	// Error is empty on success. At most MaxError bytes are kept.
	Error string
	// KeepFor is how long history keeps the entry: it expires at FinishedAt + KeepFor.
	KeepFor time.Duration
	// KeepPayload is for FinishDone: history keeps the payload, so that Rearm can start the timer again. History always keeps
	// the payload of a dead timer.
	KeepPayload bool
}

// EndMargin bounds the clock error between the writers of two final outcomes of the same timer id: Finish compares a
// final outcome with earlier ones only if the row was last written less than EndMargin before it. EndMargin is more
// than twice the clock bound.
const EndMargin = time.Second

// MaxError is the largest stored length of an error text, in bytes.
const MaxError = 512

// CutError truncates an error text to at most MaxError bytes, and never within a character. Engines store the result.
func CutError(text string) string {
	if len(text) <= MaxError {
		return text
	}
	end := MaxError
	for end > MaxError-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Rearm is one item of Outcomes.Rearm.
type Rearm struct {
	Ref          Ref
	Revision     timer.Revision
	ExecuteAt    timer.Millis
	IfGeneration timer.Generation // 0: any
}

// Forget is one item of Outcomes.Forget.
type Forget struct {
	Ref        Ref
	Generation timer.Generation
}
