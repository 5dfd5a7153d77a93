package decode

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// DefaultNamespace is used if a body names no namespace.
const DefaultNamespace = "default"

// Limits of the pages of list and history.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Selection names one timer.
type Selection struct {
	Namespace string
	ID        string

	otherID string // timerId, until it is compared with id
}

// Create is the body of a create.
type Create struct {
	Selection
	Fields
	OnConflict store.OnConflict
}

// Update is the body of an update.
type Update struct {
	Selection
	Fields
	IfGeneration timer.Generation // 0: any
}

// Delete is the body of a delete.
type Delete struct {
	Selection
	IfGeneration timer.Generation // 0: any
}

// List is the body of a list. The caller adds the namespace's shards by a lookup of its name.
type List struct {
	Namespace string
	Query     store.ListQuery
	Schedules bool // it is about schedules, not about timers
	Active    bool // only schedules that are neither paused nor parked
	// NextFrom and NextBefore, if not 0, select schedules whose next instant is in [NextFrom, NextBefore).
	NextFrom, NextBefore timer.Millis
}

// Selects reports whether a row of the namespace matches.
func (l *List) Selects(t *timer.Timer) bool { return l.Keeps(t) && l.Query.Selects(t) }

// Keeps reports whether a row that the query selects matches. A timer may have the correlation id that marks schedules, and the rows
// of active schedules are scheduled or retrying. The next instant of a schedule is its executeAt; a lease or a postponement moves
// only its dueAt.
func (l *List) Keeps(t *timer.Timer) bool {
	return l.Schedules == (t.Schedule != "") && !(l.Active && t.Status.Held()) &&
		(l.NextFrom == 0 || t.ExecuteAt >= l.NextFrom) && (l.NextBefore == 0 || t.ExecuteAt < l.NextBefore)
}

// History is the body of a history request.
type History struct {
	Selection
	Limit int
}

var (
	selectionNames = []string{"namespace", "id", "timerId"}
	createNames    = slices.Concat(selectionNames, fieldNames, []string{"onConflict"})
	updateNames    = slices.Concat(selectionNames, fieldNames, []string{"ifGeneration"})
	deleteNames    = slices.Concat(selectionNames, []string{"ifGeneration"})
	historyNames   = slices.Concat(selectionNames, []string{"limit"})
	countNames     = []string{"namespace", "status", "dueFrom", "dueBefore"}
	listNames      = []string{"namespace", "status", "correlationId", "dueFrom", "dueBefore", "limit", "cursor"}
	orderedNames   = slices.Concat(listNames, []string{"order"})
)

// ReadCreate decodes the body of a create.
func ReadCreate(body []byte) (Create, error) { return read(body, readCreate) }

func readCreate(v value) (Create, error) {
	var c Create
	err := v.object("", createNames, func(name string, v value) error {
		if v.isNull() {
			return nil // counts as absent
		}
		if name == "onConflict" {
			return c.readOnConflict(v)
		}
		if known, err := c.Selection.read(name, v); known {
			return err
		}
		return c.Fields.read(name, v, false)
	})
	if err == nil {
		err = cmp.Or(c.Selection.complete(), c.Fields.complete(true))
	}
	return c, err
}

// ReadUpdate decodes the body of an update.
func ReadUpdate(body []byte) (Update, error) {
	var u Update
	err := members(body, updateNames, func(name string, v value) (err error) {
		if name == "ifGeneration" {
			u.IfGeneration, err = readGeneration(v)
			return err
		}
		if known, err := u.Selection.read(name, v); known {
			return err
		}
		return u.Fields.read(name, v, true)
	})
	if err == nil {
		err = cmp.Or(u.Selection.complete(), u.Fields.complete(false))
	}
	return u, err
}

// ReadDelete decodes the body of a delete.
func ReadDelete(body []byte) (Delete, error) { return read(body, readDelete) }

func readDelete(v value) (Delete, error) {
	var d Delete
	err := v.object("", deleteNames, d.read)
	if err == nil {
		err = d.Selection.complete()
	}
	return d, err
}

func (d *Delete) read(name string, v value) (err error) {
	if name == "ifGeneration" {
		d.IfGeneration, err = readGeneration(v)
		return err
	}
	_, err = d.Selection.read(name, v)
	return err
}

// ReadSelection decodes the body of a get.
func ReadSelection(body []byte) (Selection, error) {
	var s Selection
	err := members(body, selectionNames, func(name string, v value) error {
		_, err := s.read(name, v)
		return err
	})
	if err == nil {
		err = s.complete()
	}
	return s, err
}

// ReadHistory decodes the body of a history request.
func ReadHistory(body []byte) (History, error) {
	h := History{Limit: DefaultLimit}
	err := members(body, historyNames, func(name string, v value) error {
		if name == "limit" {
			return readLimit(&h.Limit, v)
		}
		_, err := h.Selection.read(name, v)
		return err
	})
	if err == nil {
		err = h.Selection.complete()
	}
	return h, err
}

// ReadList decodes the body of a list.
func ReadList(body []byte) (List, error) {
	l, err := readList(body, orderedNames)
	q := &l.Query
	switch {
	case err != nil || !q.InDueOrder:
		return l, err
	case q.Status != "" && q.Status != timer.StatusScheduled && q.Status != timer.StatusRetrying:
		return l, timer.Invalid("status", string(q.Status), `"scheduled", "retrying" or no status with order "due"`)
	case q.CorrelationID != "":
		return l, timer.Invalid("correlationId", q.CorrelationID, `no correlationId with order "due"`)
	default:
		return l, nil
	}
}

// ReadCount decodes the body of a count.
func ReadCount(body []byte) (List, error) { return readList(body, countNames) }

func readList(body []byte, known []string) (List, error) {
	l := List{Namespace: DefaultNamespace, Query: store.ListQuery{Limit: DefaultLimit}}
	err := members(body, known, func(name string, v value) error {
		if v.isNull() {
			return nil // counts as absent
		}
		_, err := l.read(name, v)
		return err
	})
	return l, err
}

// read decodes the field if it belongs to a list.
func (l *List) read(name string, v value) (known bool, err error) {
	q := &l.Query
	switch name {
	case "namespace":
		l.Namespace, err = readNamespace("namespace", v)
	case "status":
		q.Status, err = readStatus(v)
	case "correlationId":
		q.CorrelationID, err = readCorrelationID(v)
	case "dueFrom":
		q.DueFrom, err = readBound(name, v)
	case "dueBefore":
		q.DueBefore, err = readBound(name, v)
	case "order":
		q.InDueOrder, err = readOrder(v)
	case "limit":
		err = readLimit(&q.Limit, v)
	case "cursor":
		q.After, err = readCursor(v)
	default:
		return false, nil
	}
	return true, err
}

func readOrder(v value) (inDueOrder bool, err error) {
	const want = `"key" or "due"`
	s, err := v.string("order", want)
	if err == nil && s != "key" && s != "due" {
		err = timer.Invalid("order", s, want)
	}
	return s == "due", err
}

// Forecast is the body of a forecast.
type Forecast struct {
	Namespace string
	From, To  timer.Millis
	Bucket    time.Duration
}

// Bounds of a forecast.
const (
	MinBucket  = time.Second
	MaxBuckets = 1000
)

// ReadForecast decodes the body of a forecast. Its From is received if it is absent.
func ReadForecast(body []byte, received timer.Millis) (Forecast, error) {
	f := Forecast{Namespace: DefaultNamespace, From: received}
	var hasTo bool
	err := members(body, []string{"namespace", "from", "to", "bucket"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "namespace":
			f.Namespace, err = readNamespace(name, v)
		case name == "from":
			f.From, err = readInstant(name, v)
		case name == "to":
			hasTo = true
			f.To, err = readInstant(name, v)
		case name == "bucket":
			if f.Bucket, err = readDuration(name, v); err == nil && f.Bucket < MinBucket {
				err = timer.Invalid(name, raw(v), `at least "1s"`)
			}
		}
		return err
	})
	switch {
	case err != nil:
		return f, err
	case !hasTo:
		return f, timer.Invalid("to", missing{}, "the end of the range, an RFC 3339 time")
	case f.To <= 0:
		return f, timer.Invalid("to", f.To.String(), "a time after 1970-01-01T00:00:00Z")
	case f.Bucket == 0:
		return f, timer.Invalid("bucket", missing{}, `a duration of at least "1s"`)
	case f.To <= f.From:
		return f, timer.Invalid("to", f.To.String(), "a time after from, which is "+f.From.String())
	}
	// The range may be longer than the longest Duration.
	if n := f.Buckets(); n > MaxBuckets {
		least := time.Duration((int64(f.To-f.From)+MaxBuckets-1)/MaxBuckets) * time.Millisecond
		return f, timer.Invalid("bucket", timer.FormatDuration(f.Bucket), fmt.Sprintf(
			"at least %q for this range, because a forecast has at most %d buckets",
			timer.FormatDuration(least), MaxBuckets))
	}
	return f, nil
}

// Buckets returns the number of buckets. The last one may be shorter.
func (f *Forecast) Buckets() int64 {
	bucket := f.Bucket.Milliseconds()
	return (int64(f.To-f.From) + bucket - 1) / bucket
}

// read decodes a body with as.
func read[T any](body []byte, as func(v value) (T, error)) (T, error) {
	v, err := document(body)
	if err != nil {
		var none T
		return none, err
	}
	return as(v)
}

// members decodes a body that is one object.
func members(body []byte, known []string, visit func(name string, v value) error) error {
	v, err := document(body)
	if err != nil {
		return err
	}
	return v.object("", known, visit)
}

// read decodes the field if it belongs to a selection.
func (s *Selection) read(name string, v value) (known bool, err error) {
	switch name {
	case "namespace":
		if !v.isNull() {
			s.Namespace, err = readNamespace(name, v)
		}
	case "id":
		s.ID, err = readID(name, v)
	case "timerId":
		s.otherID, err = readID(name, v)
	default:
		return false, nil
	}
	return true, err
}

func (s *Selection) complete() error {
	if s.Namespace == "" {
		s.Namespace = DefaultNamespace
	}
	switch {
	case s.ID == "" && s.otherID == "":
		return timer.Invalid("id", missing{}, "id or timerId: "+wantID)
	case s.ID == "":
		s.ID = s.otherID
	case s.otherID != "" && s.otherID != s.ID:
		return timer.Invalid("timerId", s.otherID, "the same as id, or only one of the two")
	}
	s.otherID = ""
	return nil
}

// TimerOf returns the namespace and the id of the timer that a refused body names. Both are empty if the body has no
// valid id; the namespace is empty if it is invalid. The rest of the body may be invalid. If a field is repeated, the
// first one counts.
func TimerOf(body []byte) (namespace, id string) {
	v, err := document(body)
	if err != nil {
		return "", ""
	}
	namespace = DefaultNamespace
	seen := map[string]bool{}
	_ = v.pairs(func(key, member value) error { // visit returns no error
		at := find(selectionNames, key)
		if at < 0 || seen[selectionNames[at]] {
			return nil
		}
		name := selectionNames[at]
		seen[name] = true
		switch {
		case name == "namespace" && !member.isNull():
			if namespace, err = readNamespace(name, member); err != nil {
				namespace = ""
			}
		case name == "id" || name == "timerId" && id == "":
			if read, err := readID(name, member); err == nil && read != "" {
				id = read
			}
		}
		return nil
	})
	if id == "" {
		return "", ""
	}
	return namespace, id
}

// missing is the value in the error for an absent field.
type missing struct{}

func (missing) String() string { return "nothing" }

const wantID = "1 to 255 bytes of UTF-8 without control characters"

// readID decodes a timer id; null counts as absent.
func readID(field string, v value) (string, error) {
	if v.isNull() {
		return "", nil
	}
	id, err := v.string(field, wantID)
	if err == nil && timer.CheckID(id) != nil {
		err = timer.Invalid(field, raw(v), wantID)
	}
	return id, err
}

func readNamespace(field string, v value) (string, error) {
	name, err := v.string(field, "1 to 255 letters, digits, dots, underscores or hyphens")
	if err == nil {
		err = named(field, timer.CheckNamespace(name))
	}
	return name, err
}

func readCorrelationID(v value) (string, error) {
	id, err := v.string("correlationId", wantID)
	if err == nil && timer.CheckCorrelationID(id) != nil {
		err = timer.Invalid("correlationId", raw(v), wantID)
	}
	return id, err
}

func readGeneration(v value) (timer.Generation, error) {
	if v.isNull() {
		return 0, nil // counts as absent
	}
	const want = "a generation as an answer gave it: a positive decimal string"
	s, err := v.string("ifGeneration", want)
	if err != nil {
		return 0, err
	}
	g, err := timer.ParseGeneration(s)
	return g, named("ifGeneration", err)
}

// named replaces the field name in an error of package timer by the name of the field in the body.
func named(field string, err error) error {
	var invalid *timer.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	renamed := *invalid
	renamed.Field = field
	return &renamed
}

func (c *Create) readOnConflict(v value) error {
	const want = `"replace", "keep" or "fail"`
	s, err := v.string("onConflict", want)
	if err != nil {
		return err
	}
	switch s {
	case "replace":
		c.OnConflict = store.Replace
	case "keep":
		c.OnConflict = store.Keep
	case "fail":
		c.OnConflict = store.Fail
	default:
		return timer.Invalid("onConflict", s, want)
	}
	return nil
}

func readStatus(v value) (timer.Status, error) {
	want := anyOf(timer.Statuses())
	s, err := v.string("status", want)
	if err != nil {
		return "", err
	}
	if !slices.Contains(timer.Statuses(), timer.Status(s)) {
		return "", timer.Invalid("status", s, want)
	}
	return timer.Status(s), nil
}

func anyOf(statuses []timer.Status) string {
	all := make([]string, len(statuses))
	for i, s := range statuses {
		all[i] = string(s)
	}
	return "one of " + strings.Join(all, ", ")
}

func readLimit(limit *int, v value) (err error) {
	if !v.isNull() {
		*limit, err = v.integer("limit", 1, MaxLimit, "1 to 1000")
	}
	return err
}

// WantCursor is the expected value in the error for a cursor, also if the store refuses it.
const WantCursor = "the nextCursor of an earlier page"

func readCursor(v value) (store.Cursor, error) {
	s, err := v.string("cursor", WantCursor)
	if err != nil {
		return nil, err
	}
	c, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, timer.Invalid("cursor", s, WantCursor)
	}
	return c, nil
}

// WriteCursor encodes a cursor for readCursor.
func WriteCursor(c store.Cursor) string { return base64.RawURLEncoding.EncodeToString(c) }
