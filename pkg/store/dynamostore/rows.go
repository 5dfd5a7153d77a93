package dynamostore

import (
	"maps"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The attributes of a timer, live in the table or finished in history. In an entry of history without a final outcome,
// attempts is the attempt's number, and executed_at, last_status and last_error are the attempt's results.
const (
	attrNamespace  = "ns"
	attrID         = "id"
	attrExecuteAt  = "execute_at"
	attrDeliver    = "deliver"
	attrURL        = "url"
	attrTimeout    = "timeout_ns"
	attrRetry      = "retry"
	attrPayload    = "payload"
	attrCorr       = "correlation"
	attrHeaders    = "headers"
	attrTopic      = "topic"
	attrEventKey   = "event_key"
	attrOptions    = "options"
	attrStatus     = "status"
	attrDueAt      = "due_at"
	attrPlannedAt  = "planned_at" // present if a lease or a postponement moved due_at
	attrFlowTurn   = "flow_turn"  // replaces that of the options: a postponement writes it, but not the options
	attrLeased     = "leased"     // 1 if the last write of the row was a lease
	attrRevision   = "rev"
	attrGeneration = "gen"
	attrAttempts   = "attempts"
	attrStarts     = "starts"
	attrCreatedAt  = "created_at"
	attrUpdatedAt  = "updated_at"
	attrExecutedAt = "executed_at"
	attrLastStatus = "last_status"
	attrLastError  = "last_error"
	// attrMarkedAt is when a parked row or a dead timer got its outbox entry. It is absent after the publication.
	attrMarkedAt = "marked_at"
	// attrTarget is on live rows. Rows that were written before it was introduced do not have it.
	attrTarget = "target"
	// attrHeld is the token of a placeholder, which is not a timer (occupy.go).
	attrHeld = "held"
)

// rowAttributes are all attributes that a live row may have in addition to its key. A replacement removes those that it
// does not set.
var rowAttributes = []string{
	attrNamespace, attrID, attrExecuteAt, attrDeliver, attrURL, attrTimeout, attrRetry, attrPayload, attrCorr, attrHeaders,
	attrTopic, attrEventKey, attrOptions, attrStatus, attrDueAt, attrPlannedAt, attrFlowTurn, attrLeased, dueKey, attrRevision,
	attrGeneration, attrAttempts, attrStarts, attrCreatedAt, attrUpdatedAt, attrExecutedAt, attrLastStatus, attrLastError, attrMarkedAt,
	attrTarget, attrHeld,
}

// rowItem returns a live row without an outbox entry.
func rowItem(ref store.Ref, t *timer.Timer) item {
	it := timerItem(t)
	if !t.Status.Held() {
		it[dueKey] = text(keyText(store.Key{DueAt: t.DueAt, UUID: ref.UUID}))
	}
	it.int(attrTarget, int64(t.Target()))
	maps.Copy(it, timerKey(ref))
	return it
}

// timerItem returns a timer's attributes without a key.
func timerItem(t *timer.Timer) item {
	it := item{}
	it.text(attrNamespace, t.Namespace)
	it.text(attrID, t.ID)
	it[attrExecuteAt] = number(t.ExecuteAt) // conditions compare it, so it is always present
	it.text(attrDeliver, string(t.Deliver))
	it.text(attrURL, t.CallbackURL)
	it.int(attrTimeout, int64(t.CallbackTimeout))
	it.text(attrRetry, engine.FormatPolicy(&t.Retry))
	it.bytes(attrPayload, t.Payload)
	it.text(attrCorr, t.CorrelationID)
	it.text(attrHeaders, string(t.Headers))
	it.text(attrTopic, t.Topic)
	it.text(attrEventKey, t.EventKey)
	it.text(attrOptions, engine.FormatOptions(t))
	it.text(attrStatus, string(engine.StoredStatus(t.Status)))
	it.time(attrDueAt, t.DueAt)
	if t.PlannedAt != t.DueAt {
		it.time(attrPlannedAt, t.PlannedAt)
	}
	it.int(attrRevision, int64(t.Revision))
	it.int(attrGeneration, int64(t.Generation))
	it.int(attrAttempts, int64(t.Attempts))
	it.int(attrStarts, int64(t.Starts))
	it[attrCreatedAt] = number(t.CreatedAt) // a replacement checks whether it exists
	it.time(attrUpdatedAt, t.UpdatedAt)
	it.time(attrExecutedAt, t.ExecutedAt)
	it.int(attrLastStatus, int64(t.LastStatus))
	it.text(attrLastError, t.LastError)
	return it
}

// row is a live row.
type row struct {
	timer timer.Timer
	// markedAt is when a parked row got its outbox entry. marked is false after its publication.
	markedAt timer.Millis
	marked   bool
	// leased is set if the last write was a lease. It is not valid for a parked row.
	leased bool
}

// readRow reads a live row. found is false if there is no item, or only a placeholder.
func readRow(it item) (r row, found bool, err error) {
	if !holdsTimer(it) {
		return row{}, false, nil
	}
	read := reader{item: it}
	r.timer = read.timer(timerPrefix)
	r.markedAt = read.time(attrMarkedAt)
	_, r.marked = it[attrMarkedAt]
	r.leased = read.int(attrLeased) != 0
	return r, true, read.err
}

// readSlot reads the row of a timer into a slot, if there is one.
func readSlot(ref store.Ref, it item) (engine.Slot, error) {
	slot := engine.Slot{Ref: ref}
	r, found, err := readRow(it)
	if found {
		slot.Read(engine.Row{Timer: r.timer, MarkedAt: r.markedAt, Leased: r.leased})
	}
	return slot, err
}

func holdsTimer(it item) bool {
	_, ok := it[attrRevision]
	return ok
}

// timer reads a timer whose UUID follows a prefix of the sort key.
func (r *reader) timer(prefix string) timer.Timer {
	t := timer.Timer{
		Namespace: r.text(attrNamespace),
		ID:        r.text(attrID),
		UUID:      r.uuidAfter(prefix),
		Spec: timer.Spec{
			ExecuteAt:       r.time(attrExecuteAt),
			Deliver:         timer.Deliver(r.text(attrDeliver)),
			CallbackURL:     r.text(attrURL),
			CallbackTimeout: r.duration(attrTimeout),
			Payload:         r.bytes(attrPayload),
			CorrelationID:   r.text(attrCorr),
			Headers:         timer.Headers(r.text(attrHeaders)),
			Topic:           r.text(attrTopic),
			EventKey:        r.text(attrEventKey),
		},
		Status:     timer.Status(r.text(attrStatus)),
		DueAt:      r.time(attrDueAt),
		Revision:   timer.Revision(r.int(attrRevision)),
		Generation: timer.Generation(r.int(attrGeneration)),
		Attempts:   timer.Attempt(r.int(attrAttempts)),
		Starts:     int(r.int(attrStarts)),
		CreatedAt:  r.time(attrCreatedAt),
		UpdatedAt:  r.time(attrUpdatedAt),
		ExecutedAt: r.time(attrExecutedAt),
		LastStatus: int(r.int(attrLastStatus)),
		LastError:  r.text(attrLastError),
	}
	policy, err := engine.ParsePolicy(r.text(attrRetry))
	if err != nil {
		r.failf("%w", err)
	}
	t.Retry = policy
	if err := engine.ParseOptions(r.text(attrOptions), &t); err != nil {
		r.failf("%w", err)
	}
	if turn := r.time(attrFlowTurn); turn != 0 {
		t.FlowTurn = turn
	}
	if t.PlannedAt = r.time(attrPlannedAt); t.PlannedAt == 0 {
		t.PlannedAt = t.DueAt
	}
	return t
}
