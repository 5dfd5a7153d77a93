package decode

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Matching is the body of a request for all timers that match a filter.
type Matching struct {
	List
	When When
	// Host selects the timers whose callback URL has this host; LastError those whose last attempt failed with this error.
	Host      optional[string]
	LastError string
	// DryRun only counts the timers.
	DryRun bool
}

// Selects reports whether a timer matches.
func (m *Matching) Selects(t *timer.Timer) bool {
	return m.List.Selects(t) && (m.LastError == "" || t.LastError == m.LastError) && (!m.Host.given || callbackHost(t) == m.Host.v)
}

// Filtered reports whether there are criteria that the store does not know.
func (m *Matching) Filtered() bool { return m.Host.given || m.LastError != "" }

// callbackHost returns the host of a timer's callback URL, in lower case; empty if it has none.
func callbackHost(t *timer.Timer) string {
	u, err := url.Parse(t.CallbackURL)
	if err != nil {
		return "" // unreachable: the URL was checked
	}
	return strings.ToLower(u.Host)
}

// When is the new time for existing timers in a body.
type When struct {
	executeAt          optional[timer.Millis]
	executeIn, shiftBy optional[time.Duration]
}

// For returns the new time of a timer. old is its executeAt. Without any field, it is the time of receipt.
func (w *When) For(old, received timer.Millis) timer.Millis {
	switch {
	case w.executeAt.given:
		return w.executeAt.v
	case w.shiftBy.given:
		return old.Add(w.shiftBy.v)
	default:
		return received.Add(w.executeIn.v)
	}
}

func (w *When) given() int {
	n := 0
	for _, given := range []bool{w.executeAt.given, w.executeIn.given, w.shiftBy.given} {
		if given {
			n++
		}
	}
	return n
}

// Rearm is the body of a retry.
type Rearm struct {
	Selection
	When         When
	IfGeneration timer.Generation // 0: any
}

var (
	retryTimerNames    = slices.Concat(selectionNames, []string{"ifGeneration", "executeAt", "executeIn"})
	purgeMatchingNames = slices.Concat(listNames, []string{"callbackHost", "lastError", "dryRun"})
	retryMatchingNames = slices.Concat(purgeMatchingNames, []string{"executeAt", "executeIn"})
	rescheduleNames    = slices.Concat(listNames, []string{"executeAt", "executeIn", "shiftBy"})
)

const wantWhen = `exactly one of executeAt, executeIn and shiftBy, such as "executeIn": "1h"`

// ReadDeleteMatching decodes the body of a deletion by filter.
func ReadDeleteMatching(body []byte) (Matching, error) {
	return readMatching(body, listNames, timer.StatusScheduled, timer.StatusRetrying, timer.StatusParked, timer.StatusPaused)
}

// ReadRescheduleMatching decodes the body of a rescheduling by filter.
func ReadRescheduleMatching(body []byte) (Matching, error) {
	m, err := readMatching(body, rescheduleNames, timer.StatusScheduled, timer.StatusRetrying, timer.StatusParked, timer.StatusPaused)
	if err == nil && m.When.given() != 1 {
		err = timer.Invalid("executeAt", missing{}, wantWhen)
	}
	return m, err
}

// ReadRetryMatching decodes the body of a retry by filter.
func ReadRetryMatching(body []byte) (Matching, error) {
	m, err := readMatching(body, retryMatchingNames, timer.StatusParked, timer.StatusDead)
	if err == nil && m.Query.Status == "" {
		err = timer.Invalid("status", missing{}, "parked or dead")
	}
	if err == nil {
		err = m.When.oneAtMost()
	}
	return m, err
}

// ReadPurgeMatching decodes the body of a purge by filter.
func ReadPurgeMatching(body []byte) (Matching, error) {
	m, err := readMatching(body, purgeMatchingNames, timer.StatusDead, timer.StatusDone)
	if err == nil && m.Query.Status == "" {
		err = timer.Invalid("status", missing{}, "dead or done")
	}
	return m, err
}

// ReadRetry decodes the body of a retry.
func ReadRetry(body []byte) (Rearm, error) {
	var r Rearm
	err := members(body, retryTimerNames, func(name string, v value) (err error) {
		if v.isNull() {
			return nil // counts as absent
		}
		if name == "ifGeneration" {
			r.IfGeneration, err = readGeneration(v)
			return err
		}
		if known, err := r.Selection.read(name, v); known {
			return err
		}
		return r.When.read(name, v)
	})
	if err == nil {
		err = cmp.Or(r.Selection.complete(), r.When.oneAtMost())
	}
	return r, err
}

// readMatching decodes a filter and a time. At least one criterion is required, because the operations cannot be undone.
func readMatching(body []byte, known []string, statuses ...timer.Status) (Matching, error) {
	var other Matching
	m, err := readFilter(body, known, other.read, statuses...)
	m.When, m.Host, m.LastError, m.DryRun = other.When, other.Host, other.LastError, other.DryRun
	q := &m.Query
	if err == nil && q.Status == "" && q.CorrelationID == "" && q.DueFrom == 0 && q.DueBefore == 0 {
		err = timer.Invalid("correlationId", missing{}, "at least one of correlationId, status, dueFrom and dueBefore")
	}
	return m, err
}

// readFilter decodes a filter, of which the namespace is required. other decodes the members that are not part of a filter.
func readFilter(
	body []byte, known []string, other func(name string, v value) error, statuses ...timer.Status,
) (Matching, error) {
	m := Matching{List: List{Query: store.ListQuery{Limit: DefaultLimit}}}
	err := members(body, known, func(name string, v value) error {
		if v.isNull() {
			return nil // counts as absent
		}
		if taken, err := m.List.read(name, v); taken {
			return err
		}
		return other(name, v)
	})
	q := &m.Query
	switch {
	case err != nil:
		return m, err
	case m.Namespace == "":
		return m, timer.Invalid("namespace", missing{}, "the namespace of the timers")
	case q.Status != "" && !slices.Contains(statuses, q.Status):
		return m, timer.Invalid("status", string(q.Status), anyOf(statuses))
	default:
		return m, nil
	}
}

const (
	maxHost  = 2048
	maxError = 1024
)

// read decodes the members that are not part of every filter.
func (m *Matching) read(name string, v value) (err error) {
	switch name {
	case "callbackHost":
		const want = "the host of callback URLs, such as hooks.example.com:8443, in at most 2048 bytes, or an empty string"
		m.Host.given = true
		if string(v) == `""` {
			return nil
		}
		if m.Host.v, err = v.string(name, want); err == nil && len(m.Host.v) > maxHost {
			err = timer.Invalid(name, m.Host.v, want)
		}
		m.Host.v = strings.ToLower(m.Host.v)
	case "lastError":
		const want = "the lastError of timers, 1 to 1024 bytes"
		if m.LastError, err = v.string(name, want); err == nil && (m.LastError == "" || len(m.LastError) > maxError) {
			err = timer.Invalid(name, m.LastError, want)
		}
	case "dryRun":
		m.DryRun, err = v.bool(name)
	default:
		err = m.When.read(name, v)
	}
	return err
}

func (w *When) read(name string, v value) (err error) {
	switch name {
	case "executeAt":
		w.executeAt.given = true
		w.executeAt.v, err = readInstant(name, v)
	case "executeIn":
		w.executeIn.given = true
		w.executeIn.v, err = parseDuration(name, v)
	case "shiftBy":
		w.shiftBy.given = true
		w.shiftBy.v, err = parseShift(name, v)
	}
	return err
}

func (w *When) oneAtMost() error {
	if w.given() > 1 {
		return timer.Invalid("executeIn", w.executeIn.v, "only one of executeAt and executeIn")
	}
	return nil
}

// parseShift decodes a duration that may be negative.
func parseShift(field string, v value) (time.Duration, error) {
	const want = `a duration such as "30s", "1h" or "-15m"`
	s, err := v.string(field, want)
	if err != nil {
		return 0, err
	}
	d, err := timer.ParseDuration(s)
	if err != nil {
		return 0, timer.Invalid(field, s, want)
	}
	return d, nil
}
