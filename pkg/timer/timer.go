package timer

// Status is where a timer stands in its life.
type Status string

const (
	// StatusScheduled waits for its first attempt of this generation, or is in it.
	StatusScheduled Status = "scheduled"
	// StatusRetrying has failed at least once in this generation and will be tried again.
	StatusRetrying Status = "retrying"
	// StatusParked was started several times without ever giving a result and waits for a human.
	StatusParked Status = "parked"
	// StatusDone and StatusDead are finished; the timer is in history only.
	StatusDone Status = "done"
	StatusDead Status = "dead"
)

// Statuses lists all, in the order of a life.
func Statuses() []Status {
	return []Status{StatusScheduled, StatusRetrying, StatusParked, StatusDone, StatusDead}
}

// Finished reports whether the status is one of history.
func (s Status) Finished() bool { return s == StatusDone || s == StatusDead }

// Attempt counts delivery attempts within one generation, from 1; 0 means none yet.
type Attempt int32

// Timer is one timer as it stands: the user's Spec and what the service has made of it.
type Timer struct {
	Namespace string
	ID        string
	UUID      UUID
	Spec

	Status Status
	// DueAt is when the row is next due: never before ExecuteAt, nor before the write that set it.
	DueAt Millis
	// PlannedAt is when the coming attempt was planned: ExecuteAt, but not before the write that set it, or the
	// retry's time. Unlike DueAt, leases and postponements leave it alone; lateness is measured from it. That of
	// a finished timer is its DueAt.
	PlannedAt Millis
	// Revision and Generation: see their types.
	Revision   Revision
	Generation Generation
	// Attempts counts the attempts of this generation that gave a result.
	Attempts Attempt
	// Starts counts deliveries begun under suspicion and without a result so far (rule I13).
	Starts int

	// CreatedAt is kept by replace. Zero never.
	CreatedAt Millis
	UpdatedAt Millis
	// ExecutedAt is when the last attempt with a result began, of any generation; 0 if none did.
	ExecutedAt Millis
	// LastStatus and LastError tell how the last attempt with a result ended: the HTTP status (0 if
	// none came) and, unless it succeeded, why in words.
	LastStatus int
	LastError  string
}

// Correlation is the correlation id users see: their own or, if they gave none, the UUID. Made ones
// are not stored, and a create sent twice has the same one twice.
func (t *Timer) Correlation() string {
	if t.CorrelationID != "" {
		return t.CorrelationID
	}
	return t.UUID.String()
}

// WebhookID is the id of every delivery of the current generation, on every way: a receiver that has
// seen it has seen this delivery.
func (t *Timer) WebhookID() string { return WebhookID(t.UUID, t.Generation) }

// WebhookID builds "<uuid>_<generation>".
func WebhookID(u UUID, g Generation) string { return u.String() + "_" + g.String() }
