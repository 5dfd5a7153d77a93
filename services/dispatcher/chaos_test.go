package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestNothingIsLostWhateverFails runs three processes over a store and a bus that refuse calls, answer late or lose
// answers, and kills processes. In the end every timer must have an outcome. The world's scheduler publishes each state
// once, so no sweep repairs a timer that the dispatchers lose.
func TestNothingIsLostWhateverFails(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) { w.chaos(seed) })
		})
	}
}

func (w *world) chaos(seed uint64) {
	random := seeded(seed)
	one := func(in uint64) bool { return random()%in == 0 }
	w.answer = func(ctx context.Context, c call) dispatcher.Answer {
		switch random() % 8 {
		case 0:
			return dispatcher.Answer{Status: 503}
		case 1:
			return dispatcher.Answer{Err: errors.New("connection reset")}
		case 2:
			return after(ctx, time.Duration(random()%10)*time.Second, 200)
		default:
			return dispatcher.Answer{Status: 200}
		}
	}
	fault := func(string, []store.Finish) error {
		switch random() % 10 {
		case 0:
			return store.ErrUnavailable
		case 1:
			return store.ErrOutcomeUnknown
		default:
			return nil
		}
	}
	lost := func(string, []store.Finish) error {
		if one(8) {
			return store.ErrOutcomeUnknown
		}
		return nil
	}
	w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
		if topic != bus.Due && one(8) {
			f.Err = bus.ErrOutcomeUnknown
			f.Taken = int(random() % 2)
		}
		return f
	}})
	start := func() *node {
		n := w.start(func(c *dispatcher.Config) { c.Drain = time.Millisecond; c.Concurrency = 8 })
		n.store.set(fault, lost)
		return n
	}
	nodes := []*node{start(), start(), start()}
	const timers = 150
	deleted := map[string]bool{}
	for i := range timers {
		w.put(fmt.Sprint(i), time.Duration(random()%60000)*time.Millisecond, func(s *timer.Spec) {
			s.Deliver = []timer.Deliver{timer.DeliverCallback, timer.DeliverCallback, timer.DeliverBoth, timer.DeliverEvent}[i%4]
			s.Retry.MaxAttempts, s.Retry.InitialInterval, s.Retry.MaxInterval = 1000, time.Second, 5*time.Second
			s.CallbackTimeout = timer.MaxCallbackTimeout
		})
	}
	for range 60 {
		w.pass(time.Second)
		if k := int(random() % 30); k < len(nodes) {
			nodes[k].kill()
			<-nodes[k].done
			nodes[k] = start()
		}
		// After a delete in time, the timer must never be called.
		id := fmt.Sprint(random() % timers)
		if x := w.get(id); x.Status == timer.StatusScheduled && x.Attempts == 0 && x.DueAt == x.ExecuteAt && x.ExecuteAt > timer.SystemClock() {
			w.write(store.Delete{Ref: w.ref(id)})
			if len(w.called(id)) == 0 {
				deleted[id] = true
			}
		}
	}
	w.broker.SetFaults(membus.Faults{})
	for _, n := range nodes {
		n.store.set(nil, nil)
	}
	w.pass(3 * time.Minute)
	for i := range timers {
		id := fmt.Sprint(i)
		x := w.get(id)
		switch {
		case deleted[id]:
			w.wantCalls(id, 0)
		case x.Status != timer.StatusDone:
			w.t.Errorf("timer %s is %q, due %v (now %v), starts %d, attempts %d, %d calls",
				id, x.Status, x.DueAt, timer.SystemClock(), x.Starts, x.Attempts, len(w.called(id)))
		}
		for _, c := range w.called(id) {
			if c.at < c.timer.ExecuteAt || c.at < c.timer.DueAt {
				w.t.Errorf("timer %s was early", id)
			}
		}
	}
	w.wantDepth(0)
	for _, n := range nodes {
		n.end()
	}
}
