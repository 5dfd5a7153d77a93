package dispatcher_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// outcomes lists the outcomes in the result events of a timer, in their order.
func (w *world) outcomes(id string) []string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, h := range w.heard {
		if h.Subject != event.Subject("n", id) || h.Type != event.TypeResult {
			continue
		}
		var r event.Result
		w.must(json.Unmarshal(h.Data, &r))
		all = append(all, r.Outcome)
	}
	return all
}

// answerByID answers with the outcome that the id names.
func (w *world) answerByID(_ context.Context, c call) dispatcher.Answer {
	switch {
	case c.id == "dead":
		return dispatcher.Answer{Status: 410}
	case c.id == "retried" && c.attempt == 1:
		return dispatcher.Answer{Status: 503}
	case c.id == "rescheduled" && c.timer.ExecuteAt <= w.began:
		return dispatcher.Answer{Status: 200, Body: []byte(`{"nextExecuteAt":"` + c.at.Add(time.Second).String() + `"}`)}
	default:
		return dispatcher.Answer{Status: 200}
	}
}

// TestI14_TheNamespaceSelectsTheResultsThatArePublished also checks that history and the other topics do not depend on the setting.
func TestI14_TheNamespaceSelectsTheResultsThatArePublished(t *testing.T) {
	all := map[string][]string{
		"done": {"done"}, "dead": {"dead"}, "retried": {"failed", "done"}, "expired": {"expired"}, "both": {"done"}, "event": {"done"},
		"rescheduled": {"rescheduled", "done"},
	}
	for results, want := range map[store.Results]map[string][]string{
		store.ResultsAll:      all,
		store.ResultsFailures: {"dead": {"dead"}, "retried": {"failed"}, "expired": {"expired"}},
		store.ResultsOff:      {},
	} {
		t.Run(string(results), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.settle(func(s *store.Settings) { s.Results = results })
				w.answer = w.answerByID
				n := w.start()
				for id := range all {
					w.put(id, 0, func(s *timer.Spec) {
						switch id {
						case "both":
							s.Deliver = timer.DeliverBoth
						case "event":
							s.CallbackURL = ""
						case "expired":
							s.ExecuteAt, s.ExpireAfter = s.ExecuteAt.Add(-time.Hour), time.Minute
						}
					})
				}
				w.pass(2 * time.Minute)
				n.end()
				for id, outcomes := range all {
					if got := w.outcomes(id); !slices.Equal(got, want[id]) {
						t.Errorf("%s has the results %q, want %q", id, got, want[id])
					}
					entries, err := w.store.History(t.Context(), timer.SystemClock(), w.ref(id), 10)
					if err != nil || len(entries) != len(outcomes) {
						t.Errorf("%s has %d outcomes in history, %v", id, len(entries), err)
					}
				}
				for id, others := range map[string]string{"both": "fired", "event": "fired", "dead": "dead", "expired": "dead"} {
					if events := w.events(id); !slices.Contains(events, others) {
						t.Errorf("%s has the events %q, want %s among them", id, events, others)
					}
				}
			})
		})
	}
}

// TestI14_AChangedSelectionTakesEffectAtTheNextReadOfTheSettings while the dispatcher runs.
func TestI14_AChangedSelectionTakesEffectAtTheNextReadOfTheSettings(t *testing.T) {
	inWorld(t, func(w *world) {
		const every = 10 * time.Second
		n := w.start(func(c *dispatcher.Config) { c.RefreshEvery = every })
		deliver := func(id string, want ...string) {
			t.Helper()
			w.put(id, 0, nil)
			w.pass(time.Second)
			w.wantStatus(id, timer.StatusDone)
			if got := w.outcomes(id); !slices.Equal(got, want) {
				t.Errorf("%s has the results %q, want %q", id, got, want)
			}
		}
		deliver("first", "done")
		w.settle(func(s *store.Settings) { s.Results = store.ResultsOff })
		w.pass(2 * every)
		deliver("second")
		w.settle(func(s *store.Settings) { s.Results = store.ResultsAll })
		w.pass(2 * every)
		deliver("third", "done")
		n.end()
	})
}

// TestI14_WithoutResultsAnOutcomeNeedsNoBus: the topic of results refuses everything.
func TestI14_WithoutResultsAnOutcomeNeedsNoBus(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.Results = store.ResultsOff })
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if topic == bus.Results {
				f.Err = bus.ErrUnavailable
			}
			return f
		}})
		n := w.start()
		w.put("a", 0, nil)
		w.pass(time.Second)
		n.end()
		w.wantCalls("a", 1)
		w.wantStatus("a", timer.StatusDone)
	})
}
