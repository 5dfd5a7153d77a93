package dispatcher

import (
	"context"
	"errors"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// errStopped says that the service ended before something could be done.
var errStopped = errors.New("dispatcher stopped")

// attemptResult is what one attempt gave.
type attemptResult struct {
	callback.Verdict
	finishedAt timer.Millis
	// postpone: nobody was told anything, so no attempt is used.
	postpone bool
	// lasting: what it is postponed for may last, and be the same for all timers of a namespace.
	lasting bool
	// circuit is what the host's circuit is told.
	circuit error
	// fired is an event that the bus does not have yet, though the callback was made.
	fired *bus.Message
}

// deliver makes one attempt and sees its outcome through.
//
// With way "both", event and callback leave at the same time; the callback decides the outcome, unless the bus can
// never have the event, and the event repeats with every attempt. A user topic (owntopic.go) decides, too.
func (s *Service) deliver(d *delivery) {
	if s.config.Planted.ReadFirst {
		sleep(s.life, d.row.DueAt.Sub(s.config.Clock()))
	}
	if s.config.Planted.AckFirst {
		s.leased(d, 0)
	}
	d.startedAt = s.config.Clock()
	s.metrics.lateness.Observe(d.startedAt.Sub(d.row.PlannedAt).Seconds())
	way := d.row.Way()
	result, err := s.attempt(d, way)
	if err != nil {
		result.circuit = errUntried
	}
	host, what := s.board.answered(d, result.circuit, s.watch.Elapsed())
	s.tellCircuit(host, d.namespace, what)
	if err != nil {
		s.abandon(d, way, err)
		return
	}
	result.finishedAt = max(s.config.Clock(), d.startedAt)
	s.conclude(d, way, &result)
}

func (s *Service) attempt(d *delivery, way timer.Deliver) (attemptResult, error) {
	if way != timer.DeliverCallback && d.row.Topic != "" {
		if refused := s.allow(d); refused != nil {
			return *refused, nil
		}
	}
	if way == timer.DeliverEvent {
		return s.fire(d)
	}
	if reason := s.dress(d); reason != "" {
		return attemptResult{postpone: true, lasting: true, circuit: errUntried, Verdict: callback.Verdict{Reason: reason}}, nil
	}
	if way == timer.DeliverBoth {
		return s.callAndFire(d)
	}
	return s.call(d)
}

// call makes the callback. An error means that the service's end cut it off: that says nothing about the
// receiver.
func (s *Service) call(d *delivery) (attemptResult, error) {
	ctx, cancel := context.WithTimeout(s.life, d.row.CallbackTimeout)
	defer cancel()
	answer := s.config.Caller.Call(ctx, Request{Timer: &d.row, At: d.startedAt, Profile: d.profile})
	if answer.Err != nil && s.life.Err() != nil {
		return attemptResult{}, errStopped
	}
	result := attemptResult{Verdict: callback.Judge(&d.row, answer, d.finalStatuses, s.config.Clock(), s.random)}
	switch {
	case answer.Unsent():
		result.circuit = errUntried
		s.metrics.forbidden.Inc()
	case answer.Silent():
		result.circuit = errNoAnswer
	}
	return result, nil
}

// tellCircuit tells of a host that stopped answering to a namespace, or answers again.
func (s *Service) tellCircuit(host, namespace string, what change) {
	switch what {
	case circuitOpened:
		s.config.Logger.Warn("host does not answer, its timers are postponed", "host", host, "namespace", namespace,
			"calls", s.config.CircuitAfter)
	case circuitClosed:
		s.config.Logger.Info("host answers again", "host", host, "namespace", namespace)
	default:
		return
	}
	s.metrics.circuits.WithLabelValues(string(what)).Inc()
}

// fire publishes the fired event. Without a bus the row is postponed and no attempt is used: an outage
// says nothing about the timer, and retrying here would be a queue between row check and delivery (I7).
func (s *Service) fire(d *delivery) (attemptResult, error) {
	m, err := s.firedMessage(d)
	if err != nil {
		return undeliverable(err), nil
	}
	if d.row.Topic != "" {
		return s.fireOwn(d, m)
	}
	job := send(s.fired, m)
	<-job.done
	switch {
	case job.err == nil:
		return attemptResult{Verdict: callback.Verdict{Kind: callback.Done}}, nil
	case errors.Is(job.err, bus.ErrTooLarge):
		return undeliverable(job.err), nil
	case errors.Is(job.err, bus.ErrClosed) || s.life.Err() != nil:
		return attemptResult{}, job.err
	default:
		return attemptResult{postpone: true, Verdict: callback.Verdict{Reason: job.err.Error()}}, nil
	}
}

func (s *Service) callAndFire(d *delivery) (attemptResult, error) {
	m, err := s.firedMessage(d)
	if err != nil {
		return undeliverable(err), nil
	}
	if d.row.Topic != "" {
		return s.callAndFireOwn(d, m)
	}
	job := send(s.fired, m)
	result, err := s.call(d)
	<-job.done
	switch {
	case errors.Is(job.err, bus.ErrTooLarge):
		result.refuseEvent(job.err)
	case job.err != nil:
		result.fired = &m
	}
	return result, err
}

// refuseEvent makes a successful callback's timer dead, because the bus can never have its event. A failed callback
// goes by the retry policy first, so that its receiver gets what it can.
func (r *attemptResult) refuseEvent(err error) {
	if r.Kind == callback.Done || r.Kind == callback.Rescheduled {
		status := r.Status
		r.Verdict = undeliverable(err).Verdict
		r.Status = status
	}
}

// undeliverable is for what no repetition can make right.
func undeliverable(err error) attemptResult {
	return attemptResult{Verdict: callback.Verdict{Kind: callback.Dead, Reason: "fired event: " + err.Error()}}
}

func (s *Service) firedMessage(d *delivery) (bus.Message, error) {
	e, err := event.Fired(s.config.Source, &d.row, d.startedAt)
	if err != nil {
		return bus.Message{}, err
	}
	m, err := s.message(e, d.ref.Shard, "_"+decimal(d.row.Attempts+1))
	if d.row.EventKey != "" {
		m.Key = d.row.EventKey
	}
	return m, err
}
