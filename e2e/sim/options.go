package sim

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// requestBody returns the body of the operation's Request: bytes that a careless encoding would change, nil without one.
func (o *Op) requestBody() []byte {
	switch {
	case o.Request.ContentType == "":
		return nil
	case o.encoded():
		return fmt.Appendf(nil, "%d\x00\xff\r\n\xc3(", o.ID)
	default:
		return fmt.Appendf(nil, "%d \"\\u0041<é>\\\r\n\t", o.ID)
	}
}

// encoded reports whether the client sends the body in base64.
func (o *Op) encoded() bool { return o.Request.ContentType == "application/octet-stream" }

// options adds the delivery options to a create or an update. An update replaces all of them.
func (w *World) options(o *Op, fields map[string]any) {
	if o.Request.Raw() {
		request := map[string]any{"method": o.Request.Method, "reschedule": o.Request.Reschedule}
		switch body := o.requestBody(); {
		case body == nil:
		case o.encoded():
			request["bodyBase64"] = body
		default:
			request["body"], request["contentType"] = string(body), o.Request.ContentType
		}
		fields["request"] = request
		delete(fields, "payload")
	} else if o.Verb == Update {
		fields["request"] = nil
	}
	if o.Window > 0 {
		fields["window"] = o.Window.String()
	}
	switch {
	case o.Expire > 0 && o.Until:
		fields["expiresAt"] = w.executeAt(o).Add(o.Expire)
	case o.Expire > 0:
		fields["expireAfter"] = o.Expire.String()
	case o.Verb == Update:
		fields["expireAfter"] = nil
	}
	for name, own := range map[string]bool{"onDone": o.OnDone, "onDead": o.OnDead} {
		switch {
		case own:
			fields[name] = followUpURL(name, strconv.Itoa(o.ID))
		case o.Verb == Update:
			fields[name] = nil
		}
	}
}

// number returns the last segment of a URL's path, which is the number of an operation.
func number(of string) (int, error) {
	u, err := url.Parse(of)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(u.Path[strings.LastIndex(u.Path, "/")+1:])
}

// operation returns the number of the operation that set what was delivered.
func (d *delivered) operation() (int, error) {
	if d.request.Raw() {
		return number(d.url)
	}
	id, err := opOf(d.Payload)
	if err == nil && d.by != nil {
		if other, err := number(d.url); err != nil || other != id {
			return 0, fmt.Errorf("URL %s, want that of operation %d", d.url, id)
		}
	}
	return id, err
}

// checkContent checks that the request, or the payload, arrives as the client has sent it.
func (o *oracle) checkContent(s *opState, d *delivered) {
	want := s.op.payload()
	if s.op.Request.Raw() {
		want = s.op.requestBody()
	}
	if d.request != s.op.Request || string(d.body) != string(want) {
		o.broken("payload", "op %d requested %+v with the body %q, and was delivered as %+v with %q", s.op.ID, s.op.Request, want, d.request, d.body)
	}
}

// unread returns the step as the dispatcher must understand it: without reschedule, the body of an answer to a Request does not
// count.
func (s *opState) unread(step Step) Step {
	if !s.op.Request.Raw() || s.op.Request.Reschedule {
		return step
	}
	switch step.Answer { //nolint:exhaustive // the others do not depend on the body.
	case AnswerAgain, AnswerNotAgain, AnswerNotOK, AnswerMalformed:
		step.Said, step.Answer = step.Answer, AnswerUnread
	}
	return step
}

// checkExpired implements I18: no attempt begins when the timer has expired, by the clock of the dispatcher, nor by true time
// beyond its error.
func (o *oracle) checkExpired(s *opState, d *delivered) {
	until := o.expiresAt(s, d.ExecuteAt)
	if limit := s.op.Limit; limit > 0 && d.Attempt == 1 {
		until = min(until, d.ExecuteAt.Add(limit))
	}
	if d.begun >= until {
		o.broken("expired", "op %d attempt %d began at %v by the clock of its dispatcher, and the timer had expired at %v", s.op.ID, d.Attempt, d.begun, until)
	}
	if d.by != nil && until != timer.Never && timer.SystemClock() > until.Add(clockBound+beginsWithin) {
		o.broken("expired", "op %d attempt %d was delivered at %v, and the timer had expired at %v", s.op.ID, d.Attempt, timer.SystemClock(), until)
	}
}

// expiresAt returns when a timer of the operation expires that is due at executeAt.
func (o *oracle) expiresAt(s *opState, executeAt timer.Millis) timer.Millis {
	if s.op.Expire == 0 {
		return timer.Never
	}
	after := s.op.Expire
	if s.op.Until {
		after -= o.offsets[s.op.windowed()] // 0 if it is not known
	}
	return executeAt.Add(after)
}

// windowed identifies the window of a timer.
type windowed struct {
	timer  int
	window time.Duration
}

func (o *Op) windowed() windowed { return windowed{o.Timer, o.Window} }

// isFirst reports whether executeAt is what the operation requested. In a window it must be the same for each operation on the
// timer with that window, relative to its beginning.
func (o *oracle) isFirst(s *opState, executeAt timer.Millis) bool {
	offset := executeAt.Sub(o.world.executeAt(s.op))
	if s.op.Window == 0 || offset < 0 || offset >= s.op.Window {
		return offset == 0
	}
	known, ok := o.offsets[s.op.windowed()]
	return !ok || offset == known
}

// checkRequested checks the executeAt in the answer to an operation, and learns the place of the timer in its window.
func (o *oracle) checkRequested(s *opState, executeAt timer.Millis) {
	switch {
	case executeAt == 0 || s.op.Verb == Delete:
	case s.op.Verb == RunNow:
		s.ranAt = executeAt
		if !s.ranFor(executeAt) {
			o.broken("executeAt", "op %d, sent at %v, made the timer due at %v", s.op.ID, s.sent, executeAt)
		}
	case !o.isFirst(s, executeAt):
		o.broken("window", "op %d requested %v in a window of %v, and was answered with %v; other operations on the timer: %v later",
			s.op.ID, o.world.executeAt(s.op), s.op.Window, executeAt, o.offsets[s.op.windowed()])
	case s.op.Window > 0:
		o.offsets[s.op.windowed()] = executeAt.Sub(o.world.executeAt(s.op))
	}
}

// latestDue returns the latest time at which the timer may be due at first, by the operation.
func (o *oracle) latestDue(s *opState) time.Duration {
	offset, ok := o.offsets[s.op.windowed()]
	if !ok {
		offset = s.op.Window
	}
	return s.op.At + s.op.Soon + offset
}

// runs returns the operations that may have made the timer of an operation due: later ones, and those that may be applied late.
func (o *oracle) runs(s *opState) []*opState {
	var found []*opState
	for _, r := range o.ops {
		unknown := !r.known || r.answer.unknown
		if r.op.Verb == RunNow && r.op.Timer == s.op.Timer && r.wasSent && (unknown || r.op.ID > s.op.ID && r.answer.applied()) {
			found = append(found, r)
		}
	}
	return found
}

// ranFor reports whether an operation may have made a timer due at executeAt: when the ingest got it, by its clock, or as it was
// answered.
func (s *opState) ranFor(executeAt timer.Millis) bool {
	if s.ranAt != 0 && s.ranAt != executeAt {
		return false
	}
	sent := timer.FromTime(s.start.Add(s.sent))
	return executeAt >= sent.Add(-clockBound) && executeAt <= sent.Add(clockBound+requestTimeout)
}

// requestTimeout bounds the requests of clients.
const requestTimeout = 15 * time.Second

// ran reports whether a run-now may have caused a generation that is due at executeAt.
func (o *oracle) ran(s *opState, executeAt timer.Millis) bool {
	return slices.ContainsFunc(o.runs(s), func(r *opState) bool { return r.ranFor(executeAt) })
}

// ranOn returns the operation whose timer a run-now has found; nil if it is not certain.
func (o *oracle) ranOn(run *opState) *opState {
	var found *opState
	for _, s := range o.ops {
		switch {
		case s.op.Timer != run.op.Timer || s.op.ID >= run.op.ID || s.op.Verb == RunNow || s.op.Verb.holds():
		case !s.known || s.answer.unknown:
			found = nil
		case s.answer.applied():
			found = s
		}
	}
	return found
}

// firstOf returns the executeAt that the operation requested; 0 if its place in the window is not known.
func (o *oracle) firstOf(s *opState) timer.Millis {
	offset, ok := o.offsets[s.op.windowed()]
	if s.op.Window > 0 && !ok {
		return 0
	}
	return o.world.executeAt(s.op).Add(offset)
}
