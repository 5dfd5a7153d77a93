package dispatcher_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func TestTimersAreDeliveredAtTheirTimeAndOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		for i := range 500 {
			w.put(fmt.Sprint(i), time.Duration(i%50)*20*time.Millisecond, nil)
		}
		w.pass(2 * time.Second)
		for i := range 500 {
			id := fmt.Sprint(i)
			w.wantCalls(id, 1)
			w.wantStatus(id, timer.StatusDone)
			if got := w.events(id); !slices.Equal(got, []string{"result"}) {
				t.Fatalf("%s: events %v", id, got)
			}
			c := w.called(id)[0]
			if late := c.at.Sub(c.timer.DueAt); late < 0 || late > step {
				t.Fatalf("%s was called %v after its time", id, late)
			}
		}
		w.wantDepth(0)
		n.end()
	})
}

func TestFailuresAreRetriedByThePolicyUntilDead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer {
			return dispatcher.Answer{Status: 500, Body: []byte("no luck")}
		}
		n := w.start()
		w.put("a", time.Second, func(s *timer.Spec) { s.Retry.MaxAttempts = 4 })
		w.pass(5 * time.Minute)
		calls := w.called("a")
		if len(calls) != 4 {
			t.Fatalf("%d calls, want 4", len(calls))
		}
		for i, want := range []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second} {
			gap := calls[i+1].at.Sub(calls[i].at)
			if gap < want*9/10 || gap > want*11/10+2*step {
				t.Errorf("retry %d after %v, want about %v", i+1, gap, want)
			}
			if calls[i].timer.WebhookID() != calls[i+1].timer.WebhookID() || calls[i+1].attempt != timer.Attempt(i+2) {
				t.Errorf("retry %d: %s, attempt %d", i+1, calls[i+1].timer.WebhookID(), calls[i+1].attempt)
			}
		}
		dead := w.wantStatus("a", timer.StatusDead)
		if dead.Attempts != 4 || dead.LastStatus != 500 || dead.LastError == "" {
			t.Errorf("dead: %+v", dead)
		}
		if got := w.events("a"); !slices.Equal(got, []string{"result", "result", "result", "result", "dead"}) {
			t.Errorf("events %v", got)
		}
		n.end()
	})
}

func TestAnswerReschedulesIntoANewGeneration(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			if len(w.called("a")) == 1 {
				at := c.at.Add(10 * time.Second)
				return dispatcher.Answer{Status: 200, Body: []byte(`{"ok":true,"nextExecuteAt":"` + at.String() + `"}`)}
			}
			return dispatcher.Answer{Status: 204}
		}
		n := w.start()
		first := w.put("a", time.Second, nil)
		w.pass(2 * time.Second)
		second := w.wantStatus("a", timer.StatusScheduled)
		if second.Generation == first.Generation || second.Attempts != 0 {
			t.Fatalf("rescheduled: %+v", second)
		}
		w.pass(20 * time.Second)
		w.wantCalls("a", 2)
		if c := w.called("a")[1]; c.at.Sub(second.DueAt) > step || c.attempt != 1 || c.timer.Generation != second.Generation {
			t.Fatalf("second call: %+v", c)
		}
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}

func TestEveryWayOfDelivery(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("event", 0, func(s *timer.Spec) { s.CallbackURL, s.Payload = "", []byte(`{"x":[1,2]}`) })
		w.put("both", 0, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		w.put("callback", 0, nil)
		w.pass(time.Second)
		for id, want := range map[string][]string{
			"event": {"fired", "result"}, "both": {"fired", "result"}, "callback": {"result"},
		} {
			if got := w.events(id); !slices.Equal(got, want) {
				t.Errorf("%s: events %v, want %v", id, got, want)
			}
			w.wantStatus(id, timer.StatusDone)
		}
		w.wantCalls("event", 0)
		w.wantCalls("both", 1)
		w.mu.Lock()
		for _, h := range w.heard {
			if h.Type == event.TypeFired && h.Subject == "n/event" {
				var d event.Delivery
				if err := json.Unmarshal(h.Data, &d); err != nil || string(d.Payload) != `{"x":[1,2]}` {
					t.Errorf("fired: %s, %v", h.Data, err)
				}
			}
		}
		w.mu.Unlock()
		n.end()
	})
}

func TestBothRepeatsTheEventWithEveryAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer {
			return dispatcher.Answer{Status: 500 - 300*min(1, len(w.called("a"))/2)}
		}
		n := w.start()
		w.put("a", 0, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		w.pass(time.Minute)
		if got := w.events("a"); !slices.Equal(got, []string{"fired", "result", "fired", "result"}) {
			t.Fatalf("events %v", got)
		}
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}

func TestWhatIsDueSoonIsHinted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			switch c.id {
			case "failing":
				return dispatcher.Answer{Status: 500}
			case "long":
				return after(ctx, 20*time.Second, 200)
			case "again":
				return again(30 * time.Second)(c)
			default:
				return again(time.Hour)(c)
			}
		}
		n := w.start()
		for _, id := range []string{"failing", "long", "again", "much later"} {
			w.put(id, 0, nil)
		}
		w.pass(time.Second)
		w.wantHint("failing")
		w.wantHint("again")
		w.pass(2 * time.Second)
		w.wantHint("long")
		w.pass(5 * time.Second)
		w.wantHint("long") // the renewed lease
		w.mu.Lock()
		for _, h := range w.hints {
			if h.UUID == timer.UUIDOf("n", "much later") {
				t.Errorf("hinted beyond the window: %+v", h)
			}
		}
		w.mu.Unlock()
		n.end()
	})
}

func TestMalformedEventsAreDropped(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		for _, body := range []string{"", "\x01 too short"} {
			_, err := w.client.Publish(t.Context(), bus.Due, bus.Message{Body: []byte(body)})
			w.must(err)
		}
		w.pass(step)
		w.wantDepth(0)
		n.end()
	})
}

func TestDuplicateOfARunningDeliveryIsAcknowledgedWithIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 200)
		n := w.start()
		w.put("a", 0, nil)
		w.pass(100 * time.Millisecond)
		w.again("a")
		w.again("a")
		w.wantDepth(3)
		w.pass(2 * time.Second)
		w.wantCalls("a", 1)
		w.wantDepth(0)
		n.end()
	})
}

func TestShutdownFinishesWhatIsUnderWay(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			if c.id == "short" {
				return after(ctx, time.Second, 200)
			}
			if c.id == "long" {
				return after(ctx, 10*time.Second, 200)
			}
			return after(ctx, time.Hour, 200)
		}
		n := w.start()
		for _, id := range []string{"short", "long", "endless"} {
			w.put(id, 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		}
		w.pass(500 * time.Millisecond)
		begun := time.Now()
		n.end()
		if took := time.Since(begun); took < 20*time.Second || took > 21*time.Second {
			t.Fatalf("the drain took %v, want its deadline", took)
		}
		w.wantStatus("short", timer.StatusDone)
		w.wantStatus("long", timer.StatusDone)
		left := w.wantStatus("endless", timer.StatusScheduled)
		if left.Attempts != 0 || left.DueAt > timer.SystemClock().Add(15*time.Second) {
			t.Fatalf("abandoned: %+v", left)
		}
		w.wantDepth(0)
		w.answer = nil
		n = w.start()
		w.pass(20 * time.Second)
		w.wantCalls("endless", 2)
		w.wantStatus("endless", timer.StatusDone)
		n.end()
	})
}

func TestHistoryIsPurged(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("a", 0, nil)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDone)
		time.Sleep(store.DefaultHistoryRetention + 3*time.Minute)
		entries, err := w.store.History(t.Context(), 0, w.ref("a"), 10)
		w.must(err)
		if len(entries) != 0 {
			t.Fatalf("history still has %v", entries)
		}
		n.end()
	})
}

// neglected is a store whose expired history never ends.
type neglected struct {
	dispatcher.Store
	takes  time.Duration
	purges atomic.Int64
}

func (n *neglected) Purge(_ context.Context, _ timer.Millis, limit int) (int, error) {
	time.Sleep(n.takes)
	n.purges.Add(1)
	return limit, nil
}

func TestPurgingKeepsUpAndLeavesRoom(t *testing.T) {
	const during = time.Hour
	for _, takes := range []time.Duration{10 * time.Millisecond, time.Second} {
		inWorld(t, func(w *world) {
			db := &neglected{takes: takes}
			n := w.start(func(c *dispatcher.Config) { db.Store, c.Store = c.Store, db })
			time.Sleep(during)
			n.end()
			share := float64(time.Duration(db.purges.Load())*takes) / float64(during)
			if share < 1./8 || share > 1./4 {
				t.Errorf("batches of %s kept the store busy for %.2f of the time, want an eighth to a quarter", takes, share)
			}
		})
	}
}

// closing is a Caller with a Close method.
type closing struct {
	dispatcher.Caller
	closed atomic.Int64
}

func (c *closing) Close() { c.closed.Add(1) }

func TestTheCallerIsClosedWithItsDispatcher(t *testing.T) {
	inWorld(t, func(w *world) {
		caller := &closing{}
		n := w.start(func(c *dispatcher.Config) {
			caller.Caller = c.Caller
			c.Caller = caller
		})
		w.put("a", 0, nil)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDone)
		if caller.closed.Load() != 0 {
			t.Error("it was closed before")
		}
		n.end()
		if got := caller.closed.Load(); got != 1 {
			t.Errorf("it was closed %d times", got)
		}
	})
}
