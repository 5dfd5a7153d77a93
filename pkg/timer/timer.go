package timer

// Status is the state of a timer.
type Status string

const (
	// StatusScheduled: the timer waits for the first attempt of this generation, or that attempt is running.
	StatusScheduled Status = "scheduled"
	// StatusRetrying: the timer has failed at least once in this generation and will be retried.
	StatusRetrying Status = "retrying"
	// StatusParked: deliveries were started several times without a result; the timer waits for an operator.
	StatusParked Status = "parked"
	// StatusPaused: a client paused the timer. It is not delivered before a client resumes it.
	StatusPaused Status = "paused"
	// StatusDone and StatusDead: the timer is finished and only in the history.
	StatusDone Status = "done"
	StatusDead Status = "dead"
)

// Statuses lists all statuses in the order of a timer's life.
func Statuses() []Status {
	return []Status{StatusScheduled, StatusRetrying, StatusParked, StatusPaused, StatusDone, StatusDead}
}

// Finished reports whether the timer is only in the history.
func (s Status) Finished() bool { return s == StatusDone || s == StatusDead }

// Held reports whether schedulers leave the timer alone until a client continues it.
func (s Status) Held() bool { return s == StatusParked || s == StatusPaused }

// Attempt counts delivery attempts within one generation, from 1; 0 means none yet.
type Attempt int32

// Timer is the present state of a timer: the user's Spec and the service's fields.
type Timer struct {
	Namespace string
	ID        string
	UUID      UUID
	Spec

	Status Status
	// DueAt is when the row is next due: never before ExecuteAt, nor before the write that set it.
	DueAt Millis
	// PlannedAt is when the next attempt was planned: ExecuteAt, but not before the write that set it, or the time of
	// the retry. Unlike DueAt, it is not changed by leases and postponements; lateness is measured from it. For a
	// finished timer it equals DueAt.
	PlannedAt Millis
	// Revision and Generation: see their types.
	Revision   Revision
	Generation Generation
	// Pause is set if the status is paused.
	Pause *Pause
	// Skip is set if a client resumed the timer and wants no delivery of this generation: it ends as expired when it is due.
	Skip bool
	// ResumedFrom is PlannedAt before a resume assigned a later time; 0 if none did. A pause makes it PlannedAt again, so that the
	// next resume does not depend on the times that the one before assigned.
	ResumedFrom Millis
	// FlowTurn is when the flow of the timer will deliver it, as estimated when it was postponed because of the flow's limit. The
	// estimate is kept until it has passed. It is 0 if the timer was not postponed by its flow since PlannedAt was set.
	FlowTurn Millis
	// ScheduleState is the progress of a schedule, in the form of internal/schedule; empty at first, and for other timers.
	ScheduleState string
	// Attempts counts the attempts of this generation that had a result.
	Attempts Attempt
	// Starts counts the counted starts of deliveries since the last result (rule I13).
	Starts int

	// CreatedAt is kept by a replace. Never zero.
	CreatedAt Millis
	UpdatedAt Millis
	// ExecutedAt is when the last attempt with a result began, of any generation; 0 if there was none.
	ExecutedAt Millis
	// LastStatus and LastError describe the last attempt with a result: the HTTP status (0 if there was no answer) and,
	// unless it succeeded, the reason.
	LastStatus int
	LastError  string
}

// Correlation returns the correlation id that users see: the user's or, if there is none, the UUID. The UUID is not
// stored as correlation id, and a create that is sent twice gets the same one.
func (t *Timer) Correlation() string {
	if t.CorrelationID != "" {
		return t.CorrelationID
	}
	return t.UUID.String()
}

// WebhookID returns the id of every delivery of the current generation, by callback and by event: a receiver that has
// seen the id has seen this delivery.
func (t *Timer) WebhookID() string { return WebhookID(t.UUID, t.Generation) }

// WebhookID returns "<uuid>_<generation>".
func WebhookID(u UUID, g Generation) string { return u.String() + "_" + g.String() }
