package engine

import (
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Look is what an engine has read of one shard for Due or Overdue.
type Look struct {
	// Holds is set if the claim is the shard's newest.
	Holds bool
	// First is the first key after the cursor; its DueAt is Never if there is none. It may be missing if Rows has rows.
	First store.Key
	// Rows are the first rows after the cursor, in order. They may be omitted if no more rows fit into the answer.
	// Otherwise they end with the last row of the shard, with a row that does not fit, or, for Due, with one after the
	// horizon.
	Rows []store.DueRow
}

// DueAnswers returns the answer of Due from the looks at the query's shards.
func DueAnswers(q *store.DueQuery, looks []Look) []store.DueShard {
	out := make([]store.DueShard, len(looks))
	room := q.Total
	for i := range looks {
		if !looks[i].Holds {
			out[i].Err = Fenced("poll", q.Shards[i].Claim)
			continue
		}
		out[i] = looks[i].answer(q.Horizon, min(room, q.PerShard))
		room -= len(out[i].Rows)
	}
	return out
}

func (l *Look) answer(horizon timer.Millis, limit int) store.DueShard {
	for i := range l.Rows {
		if next := l.Rows[i].DueAt; next > horizon || i == limit {
			return store.DueShard{Rows: clipped(l.Rows[:i]), NextDueAt: next, Cut: next <= horizon}
		}
	}
	if len(l.Rows) > 0 {
		return store.DueShard{Rows: clipped(l.Rows), NextDueAt: timer.Never}
	}
	return store.DueShard{NextDueAt: l.First.DueAt, Cut: l.First.DueAt <= horizon}
}

// Due counts the rows that are due at the horizon.
func (l *Look) Due(horizon timer.Millis) int {
	n := 0
	for i := range l.Rows {
		if l.Rows[i].DueAt <= horizon {
			n++
		}
	}
	return n
}

// OverdueAnswers returns the answer of Overdue from the looks at the query's shards, whose rows are those of the query.
func OverdueAnswers(q *store.OverdueQuery, looks []Look) []store.OverdueShard {
	out := make([]store.OverdueShard, len(looks))
	room := q.Limit
	for i := range looks {
		l := &looks[i]
		if !l.Holds {
			out[i].Err = Fenced("sweep", q.Shards[i].Claim)
			continue
		}
		taken := min(room, len(l.Rows))
		room -= taken
		out[i].Rows = clipped(l.Rows[:taken])
		out[i].More = taken < len(l.Rows) || len(l.Rows) == 0 && IsOverdue(q, i, l.First)
	}
	return out
}

// IsOverdue reports whether a key is one that the query asks for in a shard, if it is after the shard's cursor.
func IsOverdue(q *store.OverdueQuery, i int, k store.Key) bool {
	return k.DueAt < q.Before && k.DueAt != timer.Never && !k.After(q.Shards[i].Upto)
}

// clipped returns nil for no rows.
func clipped(rows []store.DueRow) []store.DueRow {
	if len(rows) == 0 {
		return nil
	}
	return slices.Clip(rows)
}

// Fenced returns the error of a call under a claim that is not the shard's newest.
func Fenced(verb string, c store.Claim) error {
	return fmt.Errorf("%s shard %s under claim %d: %w", verb, c.Shard, c.Version, store.ErrFenced)
}
