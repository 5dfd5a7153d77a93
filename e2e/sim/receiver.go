package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// receiver receives a dispatcher's callbacks. It answers according to the plan, by operation, generation and attempt,
// so that a repeated delivery gets the same answer.
type receiver struct{ life *life }

// Call implements dispatcher.Caller.
func (r *receiver) Call(ctx context.Context, request dispatcher.Request) dispatcher.Answer {
	w := r.life.node.world
	if !r.life.alive() {
		return dispatcher.Answer{Err: errors.New("process crashed")}
	}
	if request.Timer.Namespace == localNamespace {
		return w.locals.call(ctx, r.life, &request)
	}
	if isOccurrence(request.Timer.ID) {
		return w.schedules.call(ctx, r.life, &request)
	}
	if shard.IsFollowUp(request.Timer.ID) {
		return w.oracle.call(r.life, &request)
	}
	if request.Confirm != nil && !request.Confirm() {
		return dispatcher.Answer{Err: dispatcher.ErrNotConfirmed}
	}
	defer w.oracle.beginFlow(&request)()
	d := delivered{
		Delivery: event.DeliveryOf(request.Timer), webhook: request.Timer.WebhookID(),
		by: r.life, local: r.life.now(), begun: request.At,
		url: request.Timer.CallbackURL, request: request.Timer.Request, body: request.Timer.Payload,
	}
	if w.oracle.deniesCall(&d, &request) {
		return dispatcher.Answer{Status: http.StatusUnauthorized}
	}
	step := w.oracle.delivered(&d)
	defer func() { w.oracle.answers(&d, errors.Is(ctx.Err(), context.Canceled)) }()
	w.note("%s  delivers op %d %s attempt %d: %s after %v", r.life.node, d.op, d.webhook, d.Attempt, step.Answer, step.After)
	if step.Answer == AnswerKill {
		w.oracle.kills(r.life)
		r.life.node.crash()
		w.revive(r.life.node, time.Second)
		return dispatcher.Answer{Err: errors.New("process crashed")}
	}
	if step.Answer == AnswerHang {
		<-ctx.Done()
		return dispatcher.Answer{Err: ctx.Err()}
	}
	sleep(ctx, step.After)
	if err := ctx.Err(); err != nil {
		return dispatcher.Answer{Err: err}
	}
	if step.Answer == AnswerLeasedKill {
		w.oracle.kills(r.life)
		r.life.node.crash()
		w.revive(r.life.node, time.Second)
		return dispatcher.Answer{Err: errors.New("process crashed")}
	}
	return step.answer()
}

// answer returns the answer that the dispatcher gets.
func (s *Step) answer() dispatcher.Answer {
	next := timer.SystemClock().Add(s.Next)
	switch s.Answer {
	case AnswerOK:
		return dispatcher.Answer{Status: 200, Body: []byte(`{"ok":true}`)}
	case AnswerStop:
		return dispatcher.Answer{Status: 200, Body: []byte(`{"stopSchedule":true}`)}
	case AnswerText:
		return dispatcher.Answer{Status: 200, Body: []byte("thanks")}
	case AnswerAgain, AnswerNotAgain:
		body, err := json.Marshal(map[string]any{"ok": s.Answer == AnswerAgain, "nextExecuteAt": next})
		must(err)
		return dispatcher.Answer{Status: 200, Body: body}
	case AnswerNotOK:
		return dispatcher.Answer{Status: 200, Body: []byte(`{"ok":false}`)}
	case AnswerMalformed:
		return dispatcher.Answer{Status: 200, Body: []byte(`{"ok":"yes"}`)}
	case AnswerError:
		return dispatcher.Answer{Status: 500}
	case AnswerBusy:
		a := dispatcher.Answer{Status: 429}
		if s.Wait > 0 {
			a.RetryAfter = strconv.Itoa(int(s.Wait / time.Second))
		}
		return a
	case AnswerGone:
		return dispatcher.Answer{Status: 410}
	case AnswerBad:
		return dispatcher.Answer{Status: finalStatus}
	case AnswerRedirect:
		return dispatcher.Answer{Status: 301}
	case AnswerRefuse:
		return dispatcher.Answer{Err: errors.New("connection refused")}
	case AnswerHang, AnswerKill, AnswerLeasedKill:
		return dispatcher.Answer{Err: errors.New("no answer")}
	case AnswerUnread:
		said := *s
		said.Answer = s.Said
		return said.answer()
	case AnswerDone:
	}
	return dispatcher.Answer{Status: 200}
}

// delivered is one delivery as seen by a receiver.
type delivered struct {
	event.Delivery

	webhook string
	op      int
	// by made the delivery, at local by its clock; nil for events.
	by    *life
	local timer.Millis
	// begun is when the attempt began, by the clock of its dispatcher.
	begun timer.Millis
	// url, request and body are those of the callback; body is also the payload of an event.
	url     string
	request timer.Request
	body    []byte
}

func (d *delivered) attempt() attempt {
	return attempt{timer: d.TimerID, generation: d.Generation, number: d.Attempt}
}

func (d *delivered) subject() subject {
	return subject{timer.UUIDOf(d.Namespace, d.TimerID), d.Generation, d.Attempt}
}

// opOf returns the operation in a payload.
func opOf(payload json.RawMessage) (int, error) {
	var p struct {
		Op *int `json:"op"`
	}
	if err := json.Unmarshal(payload, &p); err != nil || p.Op == nil {
		return 0, fmt.Errorf("payload %q: want the number of an operation", payload)
	}
	return *p.Op, nil
}

// revive starts a node again after a delay.
func (w *World) revive(n *node, after time.Duration) {
	w.others.Go(func() {
		sleep(w.outlive, after)
		if w.outlive.Err() != nil {
			return
		}
		w.mu.Lock()
		healed := w.healed
		w.mu.Unlock()
		if !healed || n.current() == nil {
			n.begin()
		}
	})
}
