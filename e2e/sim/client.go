package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// runClients starts a client for each timer, which sends that timer's operations one after another.
func (w *World) runClients(ctx context.Context) {
	byTimer := map[int][]Op{}
	for _, o := range w.plan.Ops {
		byTimer[o.Timer] = append(byTimer[o.Timer], o)
	}
	timers := make([]int, 0, len(byTimer))
	for t := range byTimer {
		timers = append(timers, t)
	}
	slices.Sort(timers)
	for _, t := range timers {
		w.clients.Go(func() {
			for _, o := range byTimer[t] {
				sleep(ctx, o.At-w.since())
				switch {
				case o.Verb == MakeNamespace && o.Removed:
					w.remakeNamespace(ctx, &o)
				case o.Verb == MakeNamespace:
					w.makeNamespace(ctx, &o)
				case o.Verb == RemoveNamespace:
					w.removeNamespace(ctx, &o)
				case o.Verb == SetQuota:
					w.setQuota(ctx, &o)
				case o.Verb == Purge:
					w.purge(ctx, &o)
				case o.Verb == PauseGroup:
					w.pauseGroup(ctx, &o)
				case o.Verb == ResumeGroup:
					w.resumeGroup(ctx, &o)
				case o.Verb.onSchedules():
					w.schedules.filter(ctx, &o)
				case o.Verb.onSchedule():
					w.schedules.request(ctx, &o)
				case o.Verb.onLocal():
					w.locals.request(ctx, &o)
				case o.Topic:
					w.command(ctx, &o)
				default:
					w.request(ctx, &o)
				}
			}
		})
	}
}

// space returns the namespace of the operation's timer.
func (o *Op) space() string {
	switch {
	case o.Bulk:
		return bulkNamespace
	case o.Quiet:
		return quietNamespace
	case o.Late:
		return lateNamespace
	case o.Limited:
		return limitedNamespace
	case o.Removed:
		return removedNamespace
	case o.Flow != "":
		return flowNamespace
	case o.Verb.onLocal():
		return localNamespace
	case o.Verb.onSchedule():
		return scheduleNamespace
	}
	return namespace
}

// makeNamespace sends requests to the ingests, one after another, until the namespace exists.
func (w *World) makeNamespace(ctx context.Context, o *Op) {
	body := fmt.Sprintf(`{"name":%q,"numShards":%d,"settings":{"finalStatuses":[%d]}}`, lateNamespace, partitions, finalStatus)
	for n := o.Node; ctx.Err() == nil; n++ {
		if l := w.nodes[n%ingests].serving(); l != nil {
			call, cancel := context.WithTimeout(ctx, 15*time.Second)
			rec := w.post(call, l, "namespaces/create", body)
			cancel()
			w.note("op %d  namespace %s answered %d", o.ID, lateNamespace, rec.Code)
			switch {
			case rec.Code == http.StatusOK && l.alive():
				return
			case !l.alive(), rec.Code == http.StatusServiceUnavailable, rec.Code == http.StatusGatewayTimeout:
			default:
				w.oracle.violate("answer", "namespace: status %d: %s", rec.Code, rec.Body)
				return
			}
		}
		sleep(ctx, 200*time.Millisecond)
	}
}

// post sends a request to a node like an HTTP client.
func (w *World) post(ctx context.Context, l *life, path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/"+path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	l.handler.ServeHTTP(rec, req)
	return rec
}

func timerID(t int) string { return "timer-" + strconv.Itoa(t) }

// executeAt returns the operation's executeAt, by the client's clock, which is correct.
func (w *World) executeAt(o *Op) timer.Millis { return timer.FromTime(w.start.Add(o.At + o.Soon)) }

// payload returns the payload of the operation's timer.
func (o *Op) payload() json.RawMessage {
	if o.Pad > 0 {
		return fmt.Appendf(nil, `{"op":%d,"pad":%q}`, o.ID, strings.Repeat("x", o.Pad))
	}
	return fmt.Appendf(nil, `{"op":%d}`, o.ID)
}

// body returns the operation as a body of the API.
func (w *World) body(o *Op) []byte {
	fields := map[string]any{"namespace": o.space(), "id": timerID(o.Timer)}
	o.holdFields(fields)
	if o.Group {
		fields["correlationId"] = group
	}
	if o.Verb == Create || o.Verb == Update {
		fields["executeAt"] = w.executeAt(o)
		fields["payload"] = o.payload()
		fields["callbackTimeout"] = "10s"
		fields["retryPolicy"] = map[string]any{
			"maxAttempts": maxAttempts, "initialInterval": initialInterval.String(), "backoffMultiplier": multiplier,
			"maxInterval": maxInterval.String(), "maxAttemptsDuration": o.Limit.String(),
		}
		if o.Event {
			fields["deliver"] = "event"
		} else {
			fields["deliver"] = "callback"
			fields["callbackUrl"] = "http://receiver.test/" + strconv.Itoa(o.ID)
		}
		if o.Flow != "" {
			fields["flowKey"] = o.Flow
		}
		w.options(o, fields)
	}
	b, err := json.Marshal(fields)
	must(err)
	return b
}

// finalStatus is the 4xx status after which the namespaces allow no other attempt.
const finalStatus = http.StatusUnprocessableEntity

// request sends the operation by HTTP and passes the answer to the oracle.
func (w *World) request(ctx context.Context, o *Op) {
	l := w.nodes[o.Node].serving()
	if l == nil {
		w.note("op %d  %s %s: %s is down", o.ID, o.Verb, timerID(o.Timer), w.nodes[o.Node])
		w.oracle.answered(o, answer{refused: true})
		return
	}
	w.oracle.sent(o)
	w.quotas.sent(o, l)
	w.note("op %d  %s %s due %v", o.ID, o.Verb, timerID(o.Timer), o.At+o.Soon)
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	rec := w.post(ctx, l, "timers/"+string(o.Verb), string(w.body(o)))
	a := answer{status: rec.Code, by: l, unknown: !l.alive() || rec.Code == http.StatusGatewayTimeout}
	switch {
	case a.unknown:
	case o.Limited && w.overQuota(o, &a, rec.Body.Bytes()):
	case o.Removed && rec.Code == http.StatusConflict:
	case o.Verb.holds() && pauseAnswered(o, rec.Code):
	case rec.Code == http.StatusServiceUnavailable, rec.Code == http.StatusTooManyRequests:
		a.refused = true
	case rec.Code == http.StatusOK, rec.Code == http.StatusAccepted:
		var t struct {
			Generation string       `json:"generation"`
			ExecuteAt  timer.Millis `json:"executeAt"`
		}
		if o.Verb != Delete {
			must(json.Unmarshal(rec.Body.Bytes(), &t))
			a.generation, a.executeAt = t.Generation, t.ExecuteAt
		}
	case rec.Code == http.StatusNoContent, rec.Code == http.StatusNotFound:
	default:
		w.oracle.violate("answer", "op %d: status %d: %s", o.ID, rec.Code, rec.Body)
	}
	w.note("op %d  answered %d %+v", o.ID, rec.Code, a)
	w.oracle.answered(o, a)
}

// command publishes the operation on the command topic. The bus does not fail for this client. The answer to the
// command comes on results or dead.
func (w *World) command(ctx context.Context, o *Op) {
	types := map[Verb]string{
		Create: event.TypeCreate, Update: event.TypeUpdate, Delete: event.TypeDelete, Pause: event.TypePause, Resume: event.TypeResume,
	}
	id := timerID(o.Timer)
	w.oracle.sent(o)
	w.note("op %d  command %s %s due %v", o.ID, o.Verb, id, o.At+o.Soon)
	w.publishCommand(ctx, o, types[o.Verb], o.space(), id, w.body(o))
}

// publishCommand publishes a command for the timer with an id, or for the schedule whose row has the id.
func (w *World) publishCommand(ctx context.Context, o *Op, kind, space, id string, data []byte) {
	e, err := event.New(kind, "client", fmt.Sprintf("command-%d", o.ID), "", "", timer.SystemClock(), json.RawMessage(data))
	must(err)
	headers, body, err := e.Encode(event.Structured)
	must(err)
	_, err = w.outside.Publish(ctx, bus.Commands, bus.Message{
		Partition: shard.PartitionOf(w.blocks[space].Place(id), partitions), Key: event.Subject(space, id),
		Headers: headers, Body: body,
	})
	must(err)
}
