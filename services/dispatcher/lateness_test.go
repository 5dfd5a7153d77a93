package dispatcher_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// metered starts a node and returns a function that reads its metrics.
func (w *world) metered(change ...func(*dispatcher.Config)) (*node, func(name string) (count, sum float64)) {
	w.t.Helper()
	registry := prometheus.NewRegistry()
	n := w.start(append(change, func(c *dispatcher.Config) { c.Registerer = registry })...)
	return n, func(name string) (count, sum float64) {
		w.t.Helper()
		families, err := registry.Gather()
		w.must(err)
		for _, f := range families {
			if f.GetName() != "timerbus_dispatcher_"+name {
				continue
			}
			for _, m := range f.GetMetric() {
				if h := m.GetHistogram(); h != nil {
					count += float64(h.GetSampleCount())
					sum += h.GetSampleSum()
				}
				sum += m.GetCounter().GetValue()
			}
			return count, sum
		}
		w.t.Fatalf("there is no metric %s", name)
		return 0, 0
	}
}

// A postponement does not reset the lateness of a timer.
func TestLatenessIsMeasuredFromThePlannedTime(t *testing.T) {
	inWorld(t, func(w *world) {
		n, metric := w.metered()
		var down atomic.Bool
		down.Store(true)
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if down.Load() && topic == bus.Fired {
				f.Err = bus.ErrUnavailable
			}
			return f
		}})
		w.put("event", time.Second, func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverEvent, "" })
		w.pass(20 * time.Second)
		down.Store(false)
		w.pass(10 * time.Second)
		w.wantStatus("event", timer.StatusDone)
		before, late := metric("lateness_seconds")
		// It was tried about every 5 s, with a growing lateness: 0 + 5 + 10 + 15 + 20.
		if before < 4 || late < 40 || late > 70 {
			t.Errorf("%v attempts were %v s late in all, want about 50 s", before, late)
		}

		// A retry is on time if it starts at its planned time.
		var calls atomic.Int64
		w.mu.Lock()
		w.answer = func(context.Context, call) dispatcher.Answer {
			if calls.Add(1) < 4 {
				return dispatcher.Answer{Status: 500}
			}
			return dispatcher.Answer{Status: 200}
		}
		w.mu.Unlock()
		w.put("callback", time.Second, nil)
		w.pass(5 * time.Minute)
		w.wantStatus("callback", timer.StatusDone)
		after, sum := metric("lateness_seconds")
		if after-before != 4 || sum-late > 0.1 {
			t.Errorf("%v attempts, of which 3 were retries, were %v s late in all", after-before, sum-late)
		}
		n.end()
	})
}

// Callbacks are counted by result, with their duration. A delivery by event only is no callback.
func TestCallbacksAreMeasured(t *testing.T) {
	inWorld(t, func(w *world) {
		n, metric := w.metered()
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			if c.id == "slow" && c.attempt == 1 {
				<-ctx.Done()
				return dispatcher.Answer{Err: ctx.Err()}
			}
			time.Sleep(2 * time.Second)
			return dispatcher.Answer{Status: 200}
		}
		w.put("slow", time.Second, func(s *timer.Spec) { s.CallbackTimeout = 3 * time.Second })
		w.put("event", time.Second, func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverEvent, "" })
		w.pass(time.Minute)
		w.wantStatus("slow", timer.StatusDone)
		w.wantStatus("event", timer.StatusDone)
		if calls, took := metric("callback_seconds"); calls != 2 || took < 5 || took > 5.5 {
			t.Errorf("%v callbacks took %v s, want 2 that took 3 s and 2 s", calls, took)
		}
		if _, all := metric("callbacks_total"); all != 2 {
			t.Errorf("%v callbacks were counted, want 2", all)
		}
		n.end()
	})
}
