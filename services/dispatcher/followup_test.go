package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// followUps returns the calls of onDone and onDead URLs for a timer, by their result events.
func (w *world) followUps(id string) (calls []call, results []event.Result) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if !strings.HasPrefix(c.id, "timerbus:") {
			continue
		}
		var r event.Result
		w.must(json.Unmarshal(c.timer.Payload, &r))
		if r.TimerID == id {
			calls, results = append(calls, c), append(results, r)
		}
	}
	return calls, results
}

func TestI19_EachOutcomeHasItsFollowUp(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) {
			s.OnDone, s.OnDead = "http://space.test/done", "http://space.test/dead"
			s.CallbackTimeout, s.Retry.MaxAttempts = 7*time.Second, 3
		})
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			if c.id == "dead" {
				return dispatcher.Answer{Status: 410}
			}
			return dispatcher.Answer{Status: 200}
		}
		n := w.start()
		w.put("done", 0, func(s *timer.Spec) { s.CorrelationID = "trace" })
		w.put("dead", 0, nil)
		w.put("own", 0, func(s *timer.Spec) { s.OnDone = "http://own.test/" })
		w.put("expired", -time.Hour, func(s *timer.Spec) { s.ExpireAfter = time.Minute })
		w.put("event", 0, func(s *timer.Spec) { s.CallbackURL = "" })
		w.pass(2 * time.Second)
		n.end()
		for id, want := range map[string]struct{ url, outcome string }{
			"done": {"http://space.test/done", "done"}, "dead": {"http://space.test/dead", "dead"}, "own": {"http://own.test/", "done"},
			"expired": {"http://space.test/dead", "expired"}, "event": {"http://space.test/done", "done"},
		} {
			calls, results := w.followUps(id)
			if len(calls) != 1 {
				t.Errorf("%s has %d follow-ups", id, len(calls))
				continue
			}
			c, r := calls[0], results[0]
			if c.timer.CallbackURL != want.url || r.Outcome != want.outcome || r.Namespace != "n" || r.Generation == "" || c.attempt != 1 ||
				c.timer.CallbackTimeout != 7*time.Second || c.timer.Retry.MaxAttempts != 3 {
				t.Errorf("%s: called %+v with %+v", id, c.timer, r)
			}
			if id == "done" && (c.timer.Correlation() != "trace" || r.CorrelationID != "trace") {
				t.Errorf("correlation ids %q, %q", c.timer.Correlation(), r.CorrelationID)
			}
			// Its id is enough to find it.
			w.wantStatus(c.id, timer.StatusDone)
		}
	})
}

// TestI19_AFollowUpHasItsOwnRetries, and no follow-up.
func TestI19_AFollowUpHasItsOwnRetries(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) {
			s.OnDone, s.OnDead, s.Retry.MaxAttempts = "http://space.test/done", "http://space.test/dead", 2
		})
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			if strings.HasPrefix(c.id, "timerbus:") {
				return dispatcher.Answer{Status: 500}
			}
			return dispatcher.Answer{Status: 200}
		}
		n := w.start()
		w.put("a", 0, nil)
		w.pass(time.Minute)
		n.end()
		calls, _ := w.followUps("a")
		if len(calls) != 2 || calls[1].attempt != 2 || calls[0].timer.WebhookID() != calls[1].timer.WebhookID() {
			t.Fatalf("called %+v", calls)
		}
		w.wantStatus(calls[0].id, timer.StatusDead)
		w.wantStatus("a", timer.StatusDone)
		if len(w.calls) != 3 {
			t.Errorf("%d calls in all, want 3: the dead follow-up has no follow-up", len(w.calls))
		}
	})
}

// TestTheHintOfAFollowUpHasTheTimesOfItsRow, even if the store is slow: a row check looks for the row at the due time of the event,
// and otherwise needs another read.
func TestTheHintOfAFollowUpHasTheTimesOfItsRow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.OnDone = "http://space.test/done" })
		n := w.startCuttable(false, nil, faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Delay, For: 50 * time.Millisecond}, "Finish"))
		w.put("a", 0, nil)
		w.pass(time.Minute)
		n.end()
		calls, _ := w.followUps("a")
		if len(calls) != 1 {
			t.Fatalf("%d follow-ups", len(calls))
		}
		row, hints := calls[0].timer, 0
		for _, h := range w.hints {
			if h.UUID != row.UUID || h.Attempt != 1 {
				continue
			}
			if hints++; h.DueAt != row.DueAt || h.UpdatedAt != row.UpdatedAt {
				t.Errorf("hinted at %v, written at %v, and the row is due at %v, written at %v", h.DueAt, h.UpdatedAt, row.DueAt, row.UpdatedAt)
			}
		}
		if hints != 1 {
			t.Errorf("%d hints", hints)
		}
	})
}

// TestI19_ARepeatedOutcomeHasOneFollowUp: the answer of the first write is lost.
func TestI19_ARepeatedOutcomeHasOneFollowUp(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.OnDone = "http://space.test/done" })
		n := w.start()
		lost := 0
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "finish" && lost < 2 {
				lost++
				return store.ErrOutcomeUnknown
			}
			return nil
		})
		w.put("a", 0, nil)
		w.pass(time.Minute)
		n.end()
		if calls, _ := w.followUps("a"); len(calls) != 1 || lost != 2 {
			t.Errorf("%d follow-ups after %d lost answers", len(calls), lost)
		}
	})
}

// TestI19_AKillBetweenOutcomeAndHintLosesNoFollowUp: the scheduler's poll finds it.
func TestI19_AKillBetweenOutcomeAndHintLosesNoFollowUp(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.OnDone = "http://space.test/done" })
		first := w.start()
		first.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "finish" {
				first.kill()
				return store.ErrClosed
			}
			return nil
		})
		w.put("a", 0, nil)
		w.pass(time.Second)
		second := w.start()
		w.pass(10 * time.Second)
		second.end()
		if calls, _ := w.followUps("a"); len(calls) != 1 {
			t.Errorf("%d follow-ups", len(calls))
		}
	})
}

// TestI19_WithoutSettingsThereIsNoOutcome: while the namespace cannot be read, the outcome waits, because a follow-up could be lost.
func TestI19_WithoutSettingsThereIsNoOutcome(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.OnDone = "http://space.test/done" })
		unreadable := &unreadableNamespaces{Store: w.store, fails: true}
		n := w.start(func(c *dispatcher.Config) { c.Directory = store.NewDirectory(unreadable) })
		w.put("a", 0, func(s *timer.Spec) { s.CallbackURL = "" }) // events need no settings of the namespace
		w.pass(time.Second)
		if w.get("a").Status != timer.StatusScheduled {
			t.Errorf("it is %s without the settings", w.get("a").Status)
		}
		unreadable.fails = false
		w.pass(time.Minute)
		n.end()
		w.wantStatus("a", timer.StatusDone)
		if calls, _ := w.followUps("a"); len(calls) != 1 {
			t.Errorf("%d follow-ups", len(calls))
		}
	})
}

// unreadableNamespaces is a store that returns no namespace while fails is set.
type unreadableNamespaces struct {
	store.Store

	fails bool
}

var errUnreadable = errors.New("unreadable")

func (u *unreadableNamespaces) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	if u.fails {
		return store.Namespace{}, errUnreadable
	}
	return u.Store.GetNamespace(ctx, name)
}

func (u *unreadableNamespaces) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	if u.fails {
		return store.NamespacePage{}, errUnreadable
	}
	return u.Store.ListNamespaces(ctx, after, limit)
}
