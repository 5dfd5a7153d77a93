package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// errStopped reports that the service ended before an operation completed.
var errStopped = errors.New("dispatcher stopped")

type attemptResult struct {
	callback.Verdict
	finishedAt timer.Millis
	// postpone: no attempt is used, because no callback was made, or the callback does not count. It does not count if
	//   - the receiver answered 401, the dispatcher got a new token, and mayBegin refused the repetition,
	//   - its idle connection was closed, and mayBegin refused the repetition on another connection, or
	//   - it was cut off because the permits of its flow ended.
	//
	// An event may have been published nevertheless, and the next delivery publishes it again. That happens in mode "both", and in
	// mode "event" if the outcome of the publish is unknown or if (*Service).complete could not read the namespace's settings.
	//
	// The Reason of a postponement is neither stored nor published.
	postpone bool
	// postponeFor replaces the usual time of a postponement, unless it is 0.
	postponeFor time.Duration
	// persistent: the cause of the postponement may last, and may affect all timers of a namespace.
	persistent bool
	// host is the result for the circuit of the host.
	host admission.Result
	// fired is the event of a delivery in mode "both" whose publish failed; complete publishes it again.
	fired *bus.Message
}

// deliver makes one attempt and writes its outcome. If the timer has expired, it writes that outcome instead (I18).
//
// In mode "both", an event that cannot be encoded, or whose topic is not allowed, makes the timer dead without a callback. Otherwise
// the callback and the publish of the event run concurrently, and the callback decides the outcome, with two exceptions after a
// successful callback:
//   - Topic fired: an event that is too large for the bus makes the timer dead.
//   - User topic: a failed publish makes the attempt fail, or makes the timer dead if the bus cannot have the topic.
//
// The event is published again with every attempt.
func (s *Service) deliver(d *delivery) {
	d.startedAt = s.config.Clock()
	if d.row.Schedule != "" {
		s.runSchedule(d)
		return
	}
	mode := d.row.Way() // "callback", "event" or "both"
	if v, expired := callback.Expired(&d.row, d.startedAt); expired {
		s.returnPermit(d, admission.Untried)
		d.notCalled = true
		s.complete(d, mode, &attemptResult{Verdict: v, finishedAt: d.startedAt, host: admission.Untried})
		return
	}
	late := d.startedAt.Sub(d.row.PlannedAt)
	s.metrics.namespaces.of(d.row.Namespace).lateness.Observe(late.Seconds())
	traced, span := s.config.Tracer.Attempt(d.ctx, &d.row, late)
	defer span.End()
	d.traced = traced
	result, err := s.attempt(d, mode)
	if err != nil {
		result.host = admission.Untried
	}
	s.returnPermit(d, result.host)
	if err == nil {
		err = s.applyToSchedule(d, &result)
	}
	if err != nil {
		s.abandon(d, mode, err)
		return
	}
	result.finishedAt = max(s.config.Clock(), d.startedAt)
	_, completing := s.config.Tracer.Child(traced, trace.SpanKindInternal, "outcome")
	s.complete(d, mode, &result)
	completing.End()
}

func (s *Service) attempt(d *delivery, mode timer.Deliver) (attemptResult, error) {
	if mode != timer.DeliverCallback && d.row.Topic != "" {
		if result := s.checkUserTopic(d); result != nil {
			return *result, nil
		}
	}
	if mode == timer.DeliverEvent {
		return s.fire(d)
	}
	profile, whyNot := s.loadProfile(d)
	if whyNot != "" {
		return attemptResult{postpone: true, persistent: true, host: admission.Untried, Verdict: callback.Verdict{Reason: whyNot}}, nil
	}
	if profile.Authenticates(&d.row) {
		result, err := s.authorize(d, profile)
		switch {
		case err != nil:
			return attemptResult{}, err
		case result != nil:
			return *result, nil
		}
	}
	if mode == timer.DeliverBoth {
		return s.callAndFire(d, profile)
	}
	return s.call(d, profile)
}

// call makes the callback. It returns an error if the end of the service cut the call off, which says nothing about the
// receiver.
func (s *Service) call(d *delivery, profile *callback.Profile) (attemptResult, error) {
	answer, result, err := s.callOnce(d, profile, d.startedAt)
	if err == nil && answer.Status == http.StatusUnauthorized && d.token != "" {
		// The receiver has refused the request, and so has not processed it.
		at, renewed := s.renewToken(d, profile)
		switch {
		case renewed && s.mayBegin(d, repeated):
			answer, result, err = s.callOnce(d, profile, at)
		case renewed && d.ticket.Postponements < timer.MaxPostponements:
			// mayBegin has refused the repetition, so the next delivery uses the new token. After MaxPostponements in a row the
			// 401 is the result of the attempt, so that the retry policy ends the timers of a receiver that refuses every token.
			return postponedByFlow(errMayNotBegin), nil
		default:
			result.Verdict = s.classify(d, answer) // the delay of the retry begins after the request of a token
		}
	}
	if err != nil || result.postpone {
		return result, err
	}
	switch {
	case answer.RefusedByPolicy():
		result.host = admission.Untried
		s.metrics.policyRefused.Inc()
	case answer.Silent():
		result.host = admission.Silent
	}
	return result, nil
}

func (s *Service) callOnce(d *delivery, profile *callback.Profile, at timer.Millis) (Answer, attemptResult, error) {
	traced, span := s.config.Tracer.Child(d.traced, trace.SpanKindClient, "callback")
	ctx, cancel := context.WithTimeout(traced, d.row.CallbackTimeout)
	defer cancel()
	if !s.mayBegin(d, beforeConnecting) {
		tracing.End(span, errMayNotBegin.Error())
		return Answer{Err: callback.ErrNotConfirmed}, postponedByFlow(errMayNotBegin), nil
	}
	began, step := s.stopwatch.Elapsed(), connected
	answer := s.config.Caller.Call(ctx, Request{
		Timer: &d.row, At: s.config.WebhookTime(at), Profile: profile, Authorization: d.authorization,
		Trace: tracing.Of(traced, event.Trace{}),
		Confirm: func() bool {
			defer func() { step = repeated }() // the transport repeats requests whose idle connection was closed
			return s.mayBegin(d, step)
		},
	})
	switch {
	case answer.Err == nil:
	case errors.Is(answer.Err, callback.ErrNotConfirmed):
		tracing.End(span, errMayNotBegin.Error())
		return answer, postponedByFlow(errMayNotBegin), nil
	case context.Cause(d.ctx) == errPermitsEnded: //nolint:errorlint // it is not wrapped
		tracing.End(span, errPermitsEnded.Error())
		return answer, postponedByFlow(errPermitsEnded), nil
	}
	if answer.Err != nil && s.life.Err() != nil {
		tracing.End(span, errStopped.Error())
		return answer, attemptResult{}, errStopped
	}
	s.metrics.namespaces.of(d.row.Namespace).called(&answer, s.stopwatch.Elapsed()-began)
	result := attemptResult{Verdict: s.classify(d, answer)}
	tracing.EndHTTP(span, answer.Status, result.Reason)
	return answer, result, nil
}

// classify returns the verdict for an answer. The delay of a retry begins now.
func (s *Service) classify(d *delivery, answer Answer) callback.Verdict {
	return callback.Classify(&d.row, answer, d.namespace.Settings.FinalStatuses, s.timeForOutcome(d), s.random)
}

// returnPermit returns the call slot of a delivery, its permit of the host and its permit of the flow. It logs if the circuit of the
// host opened or closed.
func (s *Service) returnPermit(d *delivery, result admission.Result) {
	var host string
	var changed admission.Change
	elapsed := s.stopwatch.Elapsed()
	s.intake.step(func(q *admission.Queue) { host, changed = q.EndAttempt(&d.ticket, result, elapsed) })
	switch changed {
	case admission.Opened:
		s.config.Logger.Warn("host does not answer, its timers are postponed", "host", host, "namespace", d.row.Namespace,
			"calls", s.config.CircuitAfter)
	case admission.Closed:
		s.config.Logger.Info("host answers again", "host", host, "namespace", d.row.Namespace)
	default:
		return
	}
	s.metrics.circuits.WithLabelValues(string(changed)).Inc()
}

// fire publishes the fired event. If the publish to the topic "fired" fails, the row is postponed and no attempt is used: an outage
// says nothing about the timer. An event that cannot be encoded or is too large makes the timer dead. The publish is not retried here,
// because the row could change before the retry (I7). User topics are treated differently, see the comment above checkUserTopic.
func (s *Service) fire(d *delivery) (attemptResult, error) {
	m, err := s.firedMessage(d)
	if err != nil {
		return undeliverable(err), nil
	}
	if d.row.Topic != "" {
		return s.fireToUserTopic(d, m)
	}
	if !s.mayBegin(d, connected) {
		return postponedByFlow(errMayNotBegin), nil
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

func (s *Service) callAndFire(d *delivery, profile *callback.Profile) (attemptResult, error) {
	m, err := s.firedMessage(d)
	if err != nil {
		return undeliverable(err), nil
	}
	if d.row.Topic != "" {
		return s.callAndFireToUserTopic(d, profile, m)
	}
	if !s.mayBegin(d, connected) {
		return postponedByFlow(errMayNotBegin), nil
	}
	job := send(s.fired, m)
	result, err := s.call(d, profile)
	<-job.done
	switch {
	case errors.Is(job.err, bus.ErrTooLarge):
		result.refuseEvent(job.err)
	case job.err != nil:
		result.fired = &m
	}
	return result, err
}

// refuseEvent makes the timer of a successful callback dead, because its event is too large for the bus. The timer of a
// failed callback is first retried by its policy, so that the receiver still gets the callback.
func (r *attemptResult) refuseEvent(err error) {
	if r.Kind == callback.Done || r.Kind == callback.Rescheduled {
		status := r.Status
		r.Verdict = undeliverable(err).Verdict
		r.Status = status
	}
}

// undeliverable returns the result of an attempt without a callback, for an event that no repetition can deliver. If a callback was
// made and succeeded, refuseEvent uses only the Verdict of this result.
func undeliverable(err error) attemptResult {
	return attemptResult{host: admission.Untried, Verdict: callback.Verdict{Kind: callback.Dead, Reason: "fired event: " + err.Error()}}
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

// A failed publish to the topic "fired" says nothing about the timer and uses no attempt: it is repeated, or the timer is postponed.
// Only an event that is too large makes the timer dead (fire, refuseEvent). A user topic is treated like a receiver: a failed publish
// is a failed attempt under the retry policy, so that the timers of a topic that never exists do not wait forever.

// checkUserTopic checks that the namespace allows the timer's topic, because the settings may have changed since the
// create. It returns nil if the topic is allowed, otherwise the result of the attempt.
func (s *Service) checkUserTopic(d *delivery) *attemptResult {
	ns, err := s.namespaceOf(d)
	if err == nil && !ns.Settings.EventTopics.Allow(d.row.Topic) {
		// The cached settings may be older than the permission.
		ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
		defer cancel()
		ns, err = s.config.Directory.Renew(ctx, d.row.Namespace)
	}
	switch {
	case err != nil:
		return &attemptResult{postpone: true, host: admission.Untried, Verdict: callback.Verdict{Reason: err.Error()}}
	case ns.Settings.EventTopics.Allow(d.row.Topic):
		return nil
	default:
		return &attemptResult{host: admission.Untried, Verdict: callback.Verdict{Kind: callback.Dead, Reason: notAllowed(ns, d.row.Topic)}}
	}
}

func notAllowed(ns *store.Namespace, topic string) string {
	const shown = 200
	allows := "none"
	if all := strings.Join(ns.Settings.EventTopics.List(), ", "); all != "" {
		allows = all[:min(len(all), shown)]
		if len(all) > shown {
			allows += "…"
		}
	}
	return fmt.Sprintf("event to topic %q: namespace %q no longer allows it; allowed: %s", topic, ns.Name, allows)
}

// fireToUserTopic publishes the fired event to the timer's topic.
func (s *Service) fireToUserTopic(d *delivery, m bus.Message) (attemptResult, error) {
	if !s.mayBegin(d, connected) {
		return postponedByFlow(errMayNotBegin), nil
	}
	err := s.publishToUserTopic(d, m)
	if err != nil && s.isStopping(err) {
		return attemptResult{}, err
	}
	if err != nil {
		return attemptResult{Verdict: s.userTopicVerdict(d, err)}, nil
	}
	return attemptResult{Verdict: callback.Verdict{Kind: callback.Done}}, nil
}

// callAndFireToUserTopic makes the callback and publishes to the timer's topic concurrently. The attempt succeeds if
// both succeed, so that a successful callback does not hide a failed publish. If both fail, the result is that of the
// callback.
func (s *Service) callAndFireToUserTopic(d *delivery, profile *callback.Profile, m bus.Message) (attemptResult, error) {
	if !s.mayBegin(d, connected) {
		return postponedByFlow(errMayNotBegin), nil
	}
	published := make(chan error, 1)
	go func() { published <- s.publishToUserTopic(d, m) }()
	result, err := s.call(d, profile)
	publishErr := <-published
	switch {
	case err != nil:
		return result, err
	case publishErr == nil || result.Kind != callback.Done && result.Kind != callback.Rescheduled:
		return result, nil
	case s.isStopping(publishErr):
		return attemptResult{}, publishErr
	}
	status := result.Status
	result.Verdict = s.userTopicVerdict(d, publishErr)
	result.Status = status
	return result, nil
}

// userTopicVerdict returns the verdict for a timer whose event could not be published to its topic.
func (s *Service) userTopicVerdict(d *delivery, publishErr error) callback.Verdict {
	reason := fmt.Sprintf("event to topic %q: %v", d.row.Topic, publishErr)
	v := callback.Fail(&d.row, reason, s.timeForOutcome(d), s.random)
	if errors.Is(publishErr, bus.ErrUnsupported) {
		// The bus cannot have a topic of this name.
		v.Kind, v.NextAt = callback.Dead, timer.Millis(0)
	}
	return v
}

// isStopping reports whether a publish failed because the service ends, which says nothing about the topic.
func (s *Service) isStopping(err error) bool {
	return errors.Is(err, bus.ErrClosed) || s.life.Err() != nil
}

// namespaceOf returns the namespace of a delivery's row. The first call looks it up. A delivery that has waited for its flow looks it up
// again, and flowNamespace may replace it by newer settings before an attempt; during an attempt it stays the same.
func (s *Service) namespaceOf(d *delivery) (*store.Namespace, error) {
	if d.namespace != nil {
		return d.namespace, nil
	}
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	ns, err := s.config.Directory.Lookup(ctx, d.row.Namespace)
	if err == nil {
		d.namespace = ns
	}
	return ns, err
}

// loadProfile returns the namespace's callback settings; nil if it has none. It returns a reason if they cannot be read or
// decrypted: the callback is then postponed, never sent unsigned or with other certificates. The timer is not at fault.
func (s *Service) loadProfile(d *delivery) (profile *callback.Profile, whyNot string) {
	ns, err := s.namespaceOf(d)
	if err != nil {
		return nil, err.Error()
	}
	settings := &ns.Settings
	if settings.Headers == "" && settings.Secrets == (store.Secrets{}) && settings.TLS == (store.TLS{}) &&
		settings.Auth == (store.CallbackAuth{}) {
		return nil, "" // the common case
	}
	profile, fresh, err := s.profiles.of(ns, d.startedAt)
	if err == nil {
		return profile, ""
	}
	s.metrics.failures.WithLabelValues("open settings").Inc()
	if fresh {
		s.config.Logger.Error("timers postponed: callback settings of the namespace cannot be decrypted or read",
			"namespace", ns.Name, "error", err)
	}
	return nil, err.Error()
}
