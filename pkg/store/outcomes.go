package store

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Outcomes is what the dispatcher needs.
type Outcomes interface {
	// Current is the row check (I7): for each item, the timer as it stands, if it is there. Where
	// CountStart is set and the row has the item's revision, the row's starts grow by one in the
	// same atomic step, and nothing else of it changes: not revision, due_at or updatedAt (I13). An
	// engine that has no room for a count leaves it out, and says so (Counted), rather than to refuse.
	//
	// PostgreSQL: one SELECT … JOIN unnest(shard, due_at, uuid) by primary key, again by (shard,
	// uuid) for those that moved; the counted ones as one UPDATE … RETURNING. DynamoDB: consistent
	// BatchGetItem; a conditional UpdateItem for each counted one.
	Current(ctx context.Context, checks []Check) ([]Checked, error)

	// Finish writes outcomes, each by compare-and-set with its Guard, those on one timer in their
	// order. See the kinds for what each does; the row's due_at is max(now, executeAt, NextAt) where
	// a kind moves it, and where it uses an attempt, plannedAt is that due_at, and executedAt and the
	// last status and error are the record's. Item answers: nil, ErrConflict (the row is there and does
	// not match: nothing was written, history neither) or ErrNotFound (no row).
	//
	// The end of a life (FinishDone, FinishDead) follows the ends of earlier lives of the timer, even if
	// the clock of their writer was ahead: if history has an unexpired end whose finishedAt is not before
	// the record's, this end's finishedAt is a millisecond after it. Engines compare only if the row was
	// last written less than EndMargin before the record's finishedAt, and only with the 100 newest entries
	// by generation.
	//
	// PostgreSQL: ends go as one DELETE … USING unnest by full primary key with the INSERT into history
	// in the same statement; what is left (missed, or another kind) locks its rows by (shard, uuid), is
	// applied in memory, and is written set-based; never by a range. DynamoDB: a conditional
	// write each, TransactWriteItems where history goes with it.
	Finish(ctx context.Context, now timer.Millis, items []Finish) ([]error, error)

	// Rearm makes a dead timer (from history) or a parked one scheduled again: a new generation =
	// Revision, attempt 1, starts 0, due at max(now, ExecuteAt). createdAt and what is known of the
	// last attempt stay. A dead timer is one that Get would return as dead; its history row stays,
	// with its mark. Answers as Write: ErrNotFound if there is nothing to re-arm; ErrConflict if the
	// timer lives and is not parked, or if IfGeneration is given and another.
	//
	// PostgreSQL: UPDATE for parked rows; INSERT … SELECT from timer_history ON CONFLICT DO NOTHING
	// for dead ones. DynamoDB: a conditional UpdateItem, or a Get and a conditional Put.
	Rearm(ctx context.Context, now timer.Millis, items []Rearm) ([]Written, error)

	// Purge removes history that expired at now, at most limit rows, except those still marked. It
	// returns how many it removed.
	//
	// PostgreSQL: time partitions are dropped by age; DynamoDB: the table's TTL does it, and this
	// returns 0.
	Purge(ctx context.Context, now timer.Millis, limit int) (int, error)
}

// Check is one row check.
type Check struct {
	Ref Ref
	// DueAt is where the event saw the row; engines that sort by it look there first.
	DueAt    timer.Millis
	Revision timer.Revision
	// CountStart counts a delivery that begins under suspicion.
	CountStart bool
}

// Checked answers one Check.
type Checked struct {
	// Err is nil if the row was read. ErrUnavailable: nothing is known of it, and no start was counted;
	// ErrOutcomeUnknown: a start may have been counted.
	Err error
	// Found: the timer is there (parked ones too), and Timer is its state, payload included, with
	// Starts as before this call.
	Found bool
	Timer timer.Timer
	// Counted: the start was counted, so the row had the asked revision.
	Counted bool
}

// Matches reports whether the row is there in the very state that was asked for.
func (c *Checked) Matches(r timer.Revision) bool { return c.Found && c.Timer.Revision == r }

// FinishKind is what Finish does with a row.
type FinishKind int

const (
	// FinishDone removes the row, its mark with it, and writes history "done".
	FinishDone FinishKind = iota + 1
	// FinishRescheduled starts a new generation = Next at NextAt, which becomes executeAt: status
	// scheduled, attempts and starts 0; history "rescheduled".
	FinishRescheduled
	// FinishRetry moves the row to NextAt: status retrying, attempts = the record's attempt, starts
	// 0; history "failed".
	FinishRetry
	// FinishLeased moves the row to NextAt while the callback goes on, and counts a start where
	// asked. Status, plannedAt, last error and mark stay. No history.
	FinishLeased
	// FinishPostponed moves the row to NextAt; no attempt is used. It gives a start back where asked.
	// Status, plannedAt, last error and mark stay. No history.
	FinishPostponed
	// FinishDead removes the row and writes the whole timer into history as "dead", marked.
	FinishDead
	// FinishParked makes the row parked and marked: no Due or Overdue sees it. No history. Its
	// LastError is the record's Error; due_at, attempts and starts stay.
	FinishParked
)

// Guard is the compare side of a Finish: exactly one of the two is set.
type Guard struct {
	Generation timer.Generation
	Revision   timer.Revision
}

// Holds reports whether a row in this state may be written.
func (g Guard) Holds(t *timer.Timer) bool {
	if g.Revision != 0 {
		return t.Revision == g.Revision
	}
	return t.Generation == g.Generation
}

// Finish is one outcome.
type Finish struct {
	Ref Ref
	// DueAt is where the dispatcher last knew the row; engines that sort by it look there first.
	DueAt timer.Millis
	Kind  FinishKind
	If    Guard
	// Next is the revision the row gets; unused by FinishDone and FinishDead.
	Next timer.Revision
	// NextAt is when the row is next due, for the kinds that say so.
	NextAt timer.Millis
	// CountStart is for FinishLeased: the row's starts grow by one.
	CountStart bool
	// ReturnStart is for FinishPostponed: the row's starts shrink by one, if there are any.
	ReturnStart bool
	// Record describes the attempt. Of FinishParked's only Error matters; FinishLeased and
	// FinishPostponed use none of it.
	Record Record
}

// Record is what an attempt leaves in the row and in history.
type Record struct {
	Attempt               timer.Attempt
	StartedAt, FinishedAt timer.Millis
	StatusCode            int
	// Error is empty on success. At most MaxError bytes are kept.
	Error string
	// KeepFor is how long history keeps it, from FinishedAt: at FinishedAt + KeepFor it has expired.
	KeepFor time.Duration
}

// EndMargin bounds how long after the last write of its row a life can end before the end of an earlier life by the
// clocks of the writers. It is more than twice the clock bound.
const EndMargin = time.Second

// MaxError is how much of an error text is stored, in bytes.
const MaxError = 512

// CutError is how engines cut an error text: at most MaxError bytes, and never within a character.
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
