package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

const scheduleRow = shard.ScheduleIDPrefix + "s"

// schedule creates a schedule with an occurrence every 10 s, from 10 s on.
func (w *world) schedule(d schedule.Definition, change func(*timer.Spec)) {
	w.t.Helper()
	d.Specs = []schedule.Spec{{Every: 10 * time.Second, Anchor: timer.SystemClock()}}
	s, err := schedule.Check(d, zone.Load)
	w.must(err)
	first, _ := s.After(timer.SystemClock())
	w.put(scheduleRow, 0, func(spec *timer.Spec) {
		if change != nil {
			change(spec)
		}
		*spec = s.Row(*spec, first.At)
	})
}

// occurrences returns the calls of the schedule, as seconds since the beginning: instant, and when it was called.
func (w *world) occurrences() (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if name, ok := shard.ScheduleOf(c.id); ok && name == "s" {
			at, err := timer.ParseMillis(c.id[strings.LastIndexByte(c.id, '@')+1:])
			w.must(err)
			found = append(found, fmt.Sprintf("%ds at %ds", at.Sub(w.began)/time.Second, c.at.Sub(w.began)/time.Second))
		}
	}
	return found
}

func (w *world) wantOccurrences(want ...string) {
	w.t.Helper()
	if got := w.occurrences(); !slices.Equal(got, want) {
		w.t.Errorf("occurrences %q, want %q", got, want)
	}
}

// reasons returns the texts in the history of the schedule, oldest first.
func (w *world) reasons() (texts []string) {
	w.t.Helper()
	history, err := w.store.History(w.t.Context(), timer.SystemClock(), w.ref(scheduleRow), 100)
	w.must(err)
	for _, h := range slices.Backward(history) {
		texts = append(texts, schedule.DecisionOf(h.Error))
	}
	return texts
}

func TestI22_EachInstantHasOneOccurrence(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		defer n.end()
		w.schedule(schedule.Definition{Count: 3}, func(s *timer.Spec) {
			s.Payload, s.CorrelationID, s.ExpireAfter = []byte(`{"n":1}`), "mine", time.Minute
		})
		w.pass(45 * time.Second)
		w.wantOccurrences("10s at 10s", "20s at 20s", "30s at 30s")
		w.mu.Lock()
		c := w.calls[0]
		w.mu.Unlock()
		if string(c.timer.Payload) != `{"n":1}` || c.timer.Correlation() != "mine" || c.timer.ExpireAfter != time.Minute || c.timer.Schedule != "" {
			t.Errorf("occurrence %+v", c.timer)
		}
		w.wantStatus(c.id, timer.StatusDone)
		ended := w.wantStatus(scheduleRow, timer.StatusDone)
		if string(ended.Payload) != `{"n":1}` || ended.Schedule == "" {
			t.Errorf("the schedule that has ended: %+v", ended)
		}
		if got := w.reasons(); !slices.Equal(got, []string{"created", "created", "created"}) {
			t.Errorf("history %q", got)
		}
	})
}

// TestI22_AnOutcomeWhoseAnswerIsLost: the write is repeated, and the occurrence is created once.
func TestI22_AnOutcomeWhoseAnswerIsLost(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		defer n.end()
		lost := 0
		n.store.after = func(op string, items []store.Finish) error {
			if op == "finish" && items[0].FollowUp != nil && lost < 2 {
				lost++
				return store.ErrOutcomeUnknown
			}
			return nil
		}
		w.schedule(schedule.Definition{Count: 3}, nil)
		w.pass(60 * time.Second)
		if got := w.occurrences(); len(got) != 3 || lost != 2 {
			t.Errorf("occurrences %q, and %d answers were lost", got, lost)
		}
	})
}

func TestI22_Overlaps(t *testing.T) {
	for policy, want := range map[schedule.Policy][]string{
		schedule.Allow:       {"10s at 10s", "20s at 20s", "30s at 30s", "40s at 40s", "50s at 50s"},
		schedule.Skip:        {"10s at 10s", "40s at 40s"},
		schedule.Queue:       {"10s at 10s", "20s at 35s", "40s at 61s"},
		schedule.CancelOther: {"10s at 10s", "20s at 20s", "30s at 30s", "40s at 40s", "50s at 50s"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = answerAfter(25*time.Second, 200)
				n := w.start()
				defer n.end()
				w.schedule(schedule.Definition{OnOverlap: policy, Settings: schedule.Settings{End: w.began.Add(55 * time.Second)}}, nil)
				w.pass(64 * time.Second)
				got := w.occurrences()
				if policy == schedule.Queue { // it is asked each second, with jitter
					for i := range got {
						got[i] = strings.NewReplacer("36s", "35s", "60s", "61s", "62s", "61s").Replace(got[i])
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
				w.pass(time.Minute)
				w.wantStatus(scheduleRow, timer.StatusDone)
				if policy == schedule.CancelOther {
					// The outcome of an occurrence that was deleted while its callback ran is not recorded.
					if first := w.get(w.calls[0].id); first.ID != "" {
						t.Errorf("the first occurrence is %s", first.Status)
					}
					w.wantStatus(w.calls[4].id, timer.StatusDone)
				}
			})
		})
	}
}

func TestI22_AnswersOfOccurrences(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			switch c.at.Sub(w.began).Truncate(time.Second) {
			case 10 * time.Second:
				return dispatcher.Answer{Status: 200, Body: []byte(`{"nextExecuteAt":"` + w.began.Add(13*time.Second).String() + `"}`)}
			case 40 * time.Second:
				return dispatcher.Answer{Status: 200, Body: []byte(`{"ok":true,"stopSchedule":true}`)}
			default:
				return dispatcher.Answer{Status: 200}
			}
		}
		n := w.start()
		defer n.end()
		w.schedule(schedule.Definition{}, nil)
		w.pass(65 * time.Second)
		// The one at 20 s was moved to 13 s.
		w.wantOccurrences("10s at 10s", "13s at 13s", "30s at 30s", "40s at 40s")
		if got := w.reasons(); !slices.Equal(got, []string{"created", "moved", "created", "created", "created", "ended"}) {
			t.Errorf("history %q", got)
		}
		for _, c := range w.calls {
			w.wantStatus(c.id, timer.StatusDone)
		}
		w.wantStatus(scheduleRow, timer.StatusDone)
	})
}

// TestStopScheduleOfOtherTimers has no effect.
func TestStopScheduleOfOtherTimers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer {
			return dispatcher.Answer{Status: 200, Body: []byte(`{"stopSchedule":true}`)}
		}
		n := w.start()
		defer n.end()
		w.put("a", 0, nil)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDone)
	})
}

func TestI22_PauseOnDead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		defer n.end()
		w.schedule(schedule.Definition{PauseOnDead: 2}, nil)
		w.pass(65 * time.Second)
		w.wantOccurrences("10s at 10s", "20s at 20s")
		paused := w.wantStatus(scheduleRow, timer.StatusPaused)
		if paused.Pause.By != "timerbus" || !strings.Contains(paused.Pause.Note, "2 occurrences in a row are dead") {
			t.Errorf("pause %+v", paused.Pause)
		}
		w.mu.Lock()
		for _, h := range w.hints {
			if h.Revision == paused.Revision {
				t.Errorf("the scheduler got a hint of the paused schedule: %+v", h)
			}
		}
		w.mu.Unlock()
		if got := w.reasons(); !slices.Equal(got, []string{"created", "created", "paused"}) {
			t.Errorf("history %q", got)
		}
		w.write(store.Resume{Ref: w.ref(scheduleRow), Revision: w.revisions.Next()})
		w.pass(20 * time.Second)
		w.wantOccurrences("10s at 10s", "20s at 20s", "70s at 70s", "80s at 80s")
	})
}

// TestI22_PausedAndDeletedSchedules: a schedule that is paused or deleted after its due event was published creates nothing.
func TestI22_PausedAndDeletedSchedules(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		defer n.end()
		w.schedule(schedule.Definition{}, nil)
		w.pass(15 * time.Second)
		stale := w.get(scheduleRow)
		w.write(store.Pause{Ref: w.ref(scheduleRow), Revision: w.revisions.Next()})
		w.publish(store.DueRow{Ref: w.ref(scheduleRow), Revision: stale.Revision, Generation: stale.Generation, Attempt: 1, DueAt: stale.DueAt})
		w.pass(20 * time.Second)
		w.wantOccurrences("10s at 10s")
		w.write(store.Resume{Ref: w.ref(scheduleRow), Revision: w.revisions.Next()})
		w.pass(6 * time.Second)
		w.wantOccurrences("10s at 10s", "40s at 40s")
		if got := w.reasons(); !slices.Equal(got, []string{"created", "skipped", "created"}) {
			t.Errorf("history %q", got)
		}
		stale = w.get(scheduleRow)
		w.write(store.Delete{Ref: w.ref(scheduleRow)})
		w.publish(store.DueRow{Ref: w.ref(scheduleRow), Revision: stale.Revision, Generation: stale.Generation, Attempt: 1, DueAt: stale.DueAt})
		w.pass(20 * time.Second)
		w.wantOccurrences("10s at 10s", "40s at 40s")
	})
}

// TestI22_AnOutage: no dispatcher runs for more than the catch-up window.
func TestI22_AnOutage(t *testing.T) {
	for policy, want := range map[schedule.CatchUp][]string{
		schedule.CatchUpAll:  {"10s at 10s", "40s at 95s", "50s at 95s", "60s at 95s", "70s at 95s", "80s at 95s", "90s at 95s", "100s at 100s"},
		schedule.CatchUpLast: {"10s at 10s", "90s at 95s", "100s at 100s"},
		schedule.CatchUpNone: {"10s at 10s", "90s at 95s", "100s at 100s"}, // 90s is only 5 s late
	} {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				n := w.start()
				w.schedule(schedule.Definition{CatchUp: policy}, nil)
				w.pass(15 * time.Second)
				n.end()
				time.Sleep(80 * time.Second)
				n = w.start()
				defer n.end()
				w.pass(8 * time.Second)
				got := w.occurrences()
				// Those at 95 s begin at the same time, in any order.
				slices.SortFunc(got, func(a, b string) int { return instantOf(a) - instantOf(b) })
				if !slices.Equal(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			})
		})
	}
}

func instantOf(occurrence string) (seconds int) {
	_, _ = fmt.Sscanf(occurrence, "%ds", &seconds)
	return seconds
}

// TestAScheduleOfAHostThatDoesNotAnswer: the schedule itself needs neither a slot of the flow nor a permit of the host.
func TestAScheduleOfAHostThatDoesNotAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Err: context.DeadlineExceeded} }
		n := w.start(func(c *dispatcher.Config) { c.CircuitAfter, c.CircuitOpenFor = 1, time.Hour })
		defer n.end()
		w.schedule(schedule.Definition{}, nil)
		w.pass(65 * time.Second)
		if got := w.reasons(); len(got) != 6 || slices.Contains(got, "skipped") {
			t.Errorf("history %q", got)
		}
	})
}

// TestI22_ChangedWhileItIsHandled: a pause and a delete between the row check and the outcome.
func TestI22_ChangedWhileItIsHandled(t *testing.T) {
	for name, op := range map[string]func(*world) store.Op{
		"pause":  func(w *world) store.Op { return store.Pause{Ref: w.ref(scheduleRow), Revision: w.revisions.Next()} },
		"delete": func(w *world) store.Op { return store.Delete{Ref: w.ref(scheduleRow)} },
		"update": func(w *world) store.Op {
			at := w.began.Add(time.Hour)
			return store.Update{Ref: w.ref(scheduleRow), Revision: w.revisions.Next(), Patch: timer.Patch{ExecuteAt: &at, Window: new(time.Duration)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				n := w.start()
				defer n.end()
				changed := false
				n.store.before = func(call string, items []store.Finish) error {
					if call == "finish" && items[0].FollowUp != nil && !changed {
						changed = true
						w.write(op(w))
					}
					return nil
				}
				w.schedule(schedule.Definition{}, nil)
				w.pass(45 * time.Second)
				if got := w.occurrences(); len(got) > 0 || !changed {
					t.Errorf("occurrences %q, changed %t", got, changed)
				}
			})
		})
	}
}

// TestI22_ReplacedAtItsInstant: a schedule that is replaced, by an ingest whose clock is behind, does not create the occurrence again.
func TestI22_ReplacedAtItsInstant(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		defer n.end()
		w.schedule(schedule.Definition{}, nil)
		w.pass(10*time.Second + 100*time.Millisecond)
		row := w.get(scheduleRow)
		spec := row.Spec
		spec.ExecuteAt = w.began.Add(10 * time.Second)
		w.write(store.Put{Ref: w.ref(scheduleRow), Namespace: "n", ID: scheduleRow, Revision: w.revisions.Next(), Spec: spec})
		w.pass(15 * time.Second)
		w.wantOccurrences("10s at 10s", "20s at 20s")
	})
}

// TestI22_AnAnswerThatCannotBeApplied fails the attempt, which is retried by the policy.
func TestI22_AnAnswerThatCannotBeApplied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			if c.attempt == 1 {
				text := "not a definition"
				w.write(store.Update{Ref: w.ref(scheduleRow), Revision: w.revisions.Next(), Patch: timer.Patch{Schedule: &text}})
			}
			return dispatcher.Answer{Status: 200, Body: []byte(`{"nextExecuteAt":"2001-01-01T00:00:00Z"}`)}
		}
		n := w.start()
		defer n.end()
		w.schedule(schedule.Definition{}, func(s *timer.Spec) { s.Retry.MaxAttempts, s.Retry.InitialInterval = 3, 2*time.Second })
		w.pass(10*time.Second + 200*time.Millisecond)
		w.mu.Lock()
		id := w.calls[0].id
		w.mu.Unlock()
		w.pass(time.Minute)
		w.wantCalls(id, 3)
		if dead := w.wantStatus(id, timer.StatusDead); !strings.Contains(dead.LastError, "could not be applied to the schedule") || dead.LastStatus != 200 {
			t.Errorf("dead timer: status %d, %s", dead.LastStatus, dead.LastError)
		}
	})
}
