package dispatcher

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/flow"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// errPermitsEnded is the cause with which a call is cut off when its permit of the flow has ended.
var errPermitsEnded = errors.New("the permits of the flow could not be renewed")

const (
	// flowTimeout bounds a request for a flow, so that permits are requested again before they end.
	flowTimeout = time.Second
	// flowTries bounds the tries of a request while other dispatchers change the state of the same flow.
	flowTries = 8
	// flowAgain is the delay of postponedByFlow.
	flowAgain = time.Second
	// flowPause is the shortest time between two passes of runFlows, which look at all flows in use.
	flowPause = 5 * time.Millisecond
	// flowSweepPage is how many flows removeUnusedFlows reads at a time.
	flowSweepPage = 100
)

// requestFlow reports whether a delivery may begin as far as its flow is concerned (I21). If not, it waits or is postponed.
func (s *Service) requestFlow(d *delivery) bool {
	if d.row.FlowKey == "" || s.config.Flows == nil {
		return true
	}
	ns, err := s.flowNamespace(d)
	at := s.flowTime(s.config.Clock())
	if err != nil {
		s.delay(d, at.Now.Add(s.jitter(refusedRowDelay)))
		return false
	}
	if _, expired := callback.Expired(&d.row, at.Now); expired {
		return true // it is not called
	}
	var a admission.Answer
	var ok bool
	s.intake.step(func(q *admission.Queue) {
		if a, ok = q.RequestFlow(&d.ticket, flowRow(d, ns), &at); ok && !a.OK {
			d.row.Payload = nil
			d.namespace = nil
		}
	})
	if a.Refused != "" {
		s.postponeRefused(d, a)
	}
	return ok && a.OK
}

func flowRow(d *delivery, ns *store.Namespace) *admission.FlowRow {
	return &admission.FlowRow{
		Key: d.row.FlowKey, Limits: ns.Settings.Flows, PlannedAt: d.row.PlannedAt, Turn: d.row.FlowTurn,
	}
}

// flowTime returns the present for decisions about flows. now is the store's time.
func (s *Service) flowTime(now timer.Millis) admission.Time {
	inaccuracy, _ := s.config.StoreClock.Doubt()
	return admission.Time{Now: now, Error: inaccuracy, Elapsed: s.stopwatch.Elapsed()}
}

// quarantine makes a delivery wait in quarantine, and for its flow. starts includes the start that it waits for.
func (s *Service) quarantine(d *delivery, starts int) {
	s.metrics.quarantined.Inc()
	var row *admission.FlowRow
	limited := d.row.FlowKey != "" && s.config.Flows != nil
	if _, expired := callback.Expired(&d.row, s.config.Clock()); limited && !expired {
		ns, err := s.flowNamespace(d)
		if err != nil {
			s.delay(d, s.config.Clock().Add(s.jitter(refusedRowDelay)))
			return
		}
		row = flowRow(d, ns)
		d.namespace = nil
	}
	s.requeue(d, func(q *admission.Queue) {
		q.Quarantine(&d.ticket, starts)
		if row != nil {
			q.LimitQuarantined(&d.ticket, row)
		}
	})
}

// flowNamespace returns the namespace of a delivery with a flow key. When ingest wrote the row, there was a limit for the key. If
// the cached settings have none, they may be older than the limit: then it reads the settings again, unless they were read after the
// row was written. Only the checker calls it.
func (s *Service) flowNamespace(d *delivery) (*store.Namespace, error) {
	ns, err := s.namespaceOf(d)
	if err != nil {
		return nil, err
	}
	_, limited := ns.Settings.Flows.Match(d.row.FlowKey)
	if limited || s.flowsReadAt[ns.Name] > d.row.UpdatedAt.Add(2*s.config.ClockBound) {
		return ns, nil
	}
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	now := s.config.Clock()
	if ns, err = s.config.Directory.Renew(ctx, d.row.Namespace); err == nil {
		d.namespace = ns
		s.flowsReadAt[ns.Name] = now
	}
	return ns, err
}

// errMayNotBegin is the reason of a postponement after mayBegin has returned false.
var errMayNotBegin = errors.New("the flow has no slot or permit for the request now, or the clock is uncertain")

// confirmStep says when a request is confirmed.
type confirmStep int

const (
	beforeConnecting confirmStep = iota
	// connected: the request, or the event, is sent now.
	connected
	// repeated: the request was sent before, so it needs another slot.
	repeated
)

// mayBegin reports whether the request of a delivery may be sent now, as far as its flow is concerned. It is false if the permit of
// the delivery has ended, if its slot has ended or was used and there is no other one, or if the clock is uncertain.
func (s *Service) mayBegin(d *delivery, step confirmStep) (ok bool) {
	if d.row.FlowKey == "" || s.config.Flows == nil {
		return true
	}
	now, certain := s.config.StoreClock.Certain(s.config.Clock)
	if !certain {
		return false
	}
	at := s.flowTime(now)
	s.intake.step(func(q *admission.Queue) {
		if step == repeated {
			ok = q.RepeatFlow(&d.ticket, &at)
		} else {
			ok = q.ConfirmFlow(&d.ticket, &at, step == connected)
		}
	})
	if !ok {
		s.metrics.flowLate.Inc()
	}
	return ok
}

// postponedByFlow returns the result of an attempt whose request, or the repetition of it, may not be sent now (errMayNotBegin), or whose
// call was cut off (errPermitsEnded).
func postponedByFlow(why error) attemptResult {
	return attemptResult{postpone: true, postponeFor: flowAgain, host: admission.Untried, Verdict: callback.Verdict{Reason: why.Error()}}
}

// runFlows requests slots and permits of flows. When ctx ends, it returns the permits.
func (s *Service) runFlows(ctx context.Context) {
	defer s.returnPermits()
	for {
		if !s.config.StoreClock.AwaitTrust(ctx) {
			return
		}
		var due []admission.FlowRequest
		var wait time.Duration
		at := s.flowTime(s.config.Clock())
		s.intake.step(func(q *admission.Queue) { due, wait = q.FlowRequests(&at) })
		for i := range due {
			s.work.Go(func() { s.requestFromStore(&due[i]) })
		}
		if !awaitFlows(ctx, s.intake.flows, wait) {
			return
		}
	}
}

// awaitFlows waits for a signal, or until wait has passed, and at least flowPause. A wait of 0 has no end. It returns false if ctx ends
// first.
func awaitFlows(ctx context.Context, changed <-chan struct{}, wait time.Duration) bool {
	fires, stop := timerAfter(wait)
	defer stop()
	select {
	case <-changed:
	case <-fires:
	case <-ctx.Done():
		return false
	}
	return timer.Sleep(ctx, flowPause)
}

// returnPermits returns the permits after the last delivery has ended, so that other dispatchers can lease them immediately.
func (s *Service) returnPermits() {
	ctx, cancel := context.WithTimeout(s.calls, flowTimeout)
	defer cancel()
	for {
		var due []admission.FlowRequest
		inFlight := 0
		at := s.flowTime(s.config.Clock())
		s.intake.step(func(q *admission.Queue) {
			inFlight = q.FlowRequestsInFlight()
			due, _ = q.FlowRequests(&at)
		})
		var requests sync.WaitGroup
		for i := range due {
			requests.Go(func() { s.requestFromStore(&due[i]) })
		}
		requests.Wait()
		if len(due)+inFlight == 0 || !timer.Sleep(ctx, flowPause) {
			return
		}
	}
}

// runPermits cancels calls whose permits have ended. It does not depend on the store or its clock.
func (s *Service) runPermits(ctx context.Context) {
	for {
		var cut []*admission.Ticket
		var wait time.Duration
		elapsed := s.stopwatch.Elapsed()
		s.intake.step(func(q *admission.Queue) {
			cut, wait = q.WithoutPermits(elapsed)
			for _, t := range cut {
				deliveryOf(t).cancel(errPermitsEnded)
			}
		})
		s.metrics.flowCut.Add(float64(len(cut)))
		if !awaitFlows(ctx, s.intake.permits, wait) {
			return
		}
	}
}

func (s *Service) requestFromStore(r *admission.FlowRequest) {
	ctx, cancel := context.WithTimeout(s.calls, flowTimeout)
	defer cancel()
	r.ID = s.flowHolder
	var grant flow.Grant
	var known bool
	var began time.Duration
	err := store.ErrConflict
	for try := 0; try < flowTries && errors.Is(err, store.ErrConflict); try++ {
		began = s.stopwatch.Elapsed()
		grant, known, err = s.leaseFlow(ctx, r)
	}
	s.recordResult("request flow", err)
	result := "granted"
	if err != nil {
		result = "failed"
	}
	s.metrics.flowRequests.WithLabelValues(result).Inc()
	s.intake.step(func(q *admission.Queue) {
		if err != nil {
			q.FlowFailed(r)
		} else {
			q.FlowGranted(r, &grant, known, began, s.stopwatch.Elapsed())
		}
	})
}

// leaseFlow changes the state of a flow by compare-and-set. known reports whether a state remains.
func (s *Service) leaseFlow(ctx context.Context, r *admission.FlowRequest) (grant flow.Grant, known bool, err error) {
	present, err := s.config.Flows.GetFlow(ctx, r.Key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return grant, false, err
	}
	state, err := flow.Parse(present.State)
	if err != nil {
		return grant, false, err
	}
	now, certain := s.config.StoreClock.Certain(s.config.Clock)
	if !certain {
		return grant, false, errUncertain
	}
	grant = state.Lease(flow.At(now), &r.Limit, &r.Request)
	next := store.Flow{FlowKey: r.Key, Version: int64(s.config.Revisions.Next()), State: state.String()}
	if next.State == "" && present.Version == 0 {
		return grant, false, nil
	}
	if next.State == present.State {
		return grant, true, nil
	}
	return grant, next.State != "", s.config.Flows.SwapFlow(ctx, present.Version, next)
}

// removeUnusedFlows removes the states of flows of a namespace that have no effect any more. Usually the last process that used a flow
// removes its state (requestFromStore). It does not if the state keeps its effect for long, or if the process ends first.
func (s *Service) removeUnusedFlows(ctx context.Context, ns *store.Namespace) error {
	after := ""
	for {
		before := s.stopwatch.Elapsed()
		page, err := s.flowPage(ctx, ns, after)
		if err != nil || len(page) < flowSweepPage {
			return err
		}
		after = page[len(page)-1].Key
		if !timer.Sleep(ctx, max(s.stopwatch.Elapsed()-before, flowPause)) {
			return nil
		}
	}
}

// flowPage reads a page of flows, removes the states that have no effect, and returns the page.
func (s *Service) flowPage(ctx context.Context, ns *store.Namespace, after string) ([]store.Flow, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	page, err := s.config.Flows.ListFlows(ctx, ns.Name, after, flowSweepPage)
	for _, present := range page {
		state, broken := flow.Parse(present.State)
		now, certain := s.config.StoreClock.Certain(s.config.Clock)
		if broken != nil || !certain {
			continue
		}
		if !state.Unused(flow.At(now)) {
			continue
		}
		next := store.Flow{FlowKey: present.FlowKey, Version: int64(s.config.Revisions.Next())}
		if err := s.config.Flows.SwapFlow(ctx, present.Version, next); err != nil && !errors.Is(err, store.ErrConflict) {
			return page, err
		}
	}
	return page, err
}
