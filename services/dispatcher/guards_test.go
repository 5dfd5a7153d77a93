package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func TestI2_ALeaseThatWasAppliedLateAndNotReadIsHeldAllTheSame(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(4*time.Second, 500)
		n := w.start()
		var late []store.Finish
		applied := false
		n.store.set(func(op string, items []store.Finish) error {
			switch {
			case isKind(items, store.FinishLeased) && late == nil:
				late = slices.Clone(items)
				return store.ErrOutcomeUnknown
			case isKind(items, store.FinishLeased) && !applied:
				applied = true
				_, err := w.store.Finish(t.Context(), timer.SystemClock(), late)
				return err
			case op == "current" && applied && len(w.called("a")) == 1 && w.get("a").Status == timer.StatusScheduled &&
				timer.SystemClock().Sub(w.called("a")[0].at) < 4*time.Second:
				time.Sleep(3 * time.Second) // until the callback has ended
				return store.ErrUnavailable
			}
			return nil
		}, nil)
		w.put("a", 0, nil)
		w.pass(10 * time.Second)
		if now := w.wantStatus("a", timer.StatusRetrying); now.Attempts != 1 {
			t.Fatalf("after the failed attempt: %+v", now)
		}
		n.end()
	})
}

func TestI2_SuccessOfAnOldGenerationWritesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 200)
		n := w.start()
		w.put("a", 0, nil)
		w.pass(500 * time.Millisecond)
		updated := w.write(store.Update{Ref: w.ref("a"), Revision: w.revisions.Next()}).Timer
		w.release()
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		now := w.wantStatus("a", timer.StatusScheduled)
		if now.Generation != updated.Generation || now.Attempts != 0 {
			t.Fatalf("after the old success: %+v", now)
		}
		w.pass(2 * time.Second)
		w.wantCalls("a", 2)
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}

// TestAnUpdateDuringACallbackIsDeliveredAtOnce: immediately, and not at the end of the row lease.
func TestAnUpdateDuringACallbackIsDeliveredAtOnce(t *testing.T) {
	for _, running := range []time.Duration{time.Second, 3300 * time.Millisecond, 9 * time.Second} {
		inWorld(t, func(w *world) {
			w.answer = func(ctx context.Context, c call) dispatcher.Answer {
				if string(c.timer.Payload) == "2" {
					return dispatcher.Answer{Status: 200}
				}
				return after(ctx, 12*time.Second, 200)
			}
			w.start()
			w.put("a", 0, func(s *timer.Spec) { s.Payload = []byte("1") })
			w.pass(running)
			w.wantCalls("a", 1)
			w.write(store.Update{Ref: w.ref("a"), Revision: w.revisions.Next(), Patch: timer.Patch{Payload: new([]byte("2"))}})
			updated := timer.SystemClock()
			w.pass(20 * time.Second)
			w.wantCalls("a", 2)
			second := w.called("a")[1]
			if late := second.at.Sub(updated); late > step || string(second.timer.Payload) != "2" {
				t.Errorf("updated after %v: delivered with payload %s after %v, want at once", running, second.timer.Payload, late)
			}
			w.wantStatus("a", timer.StatusDone)
		})
	}
}

func TestI2_SuccessCountsAlthoughTheRevisionMoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 200)
		n := w.start()
		w.put("a", 0, nil)
		w.pass(500 * time.Millisecond)
		w.move("a", time.Hour)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}

func TestI2_FailureMissesWhenTheRevisionMoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 500)
		n := w.start()
		w.put("a", 0, nil)
		w.pass(500 * time.Millisecond)
		w.move("a", time.Hour)
		w.pass(time.Second)
		if now := w.wantStatus("a", timer.StatusScheduled); now.Attempts != 0 || now.DueAt < timer.SystemClock().Add(time.Minute) {
			t.Fatalf("the failure was written: %+v", now)
		}
		n.end()
	})
}

// move postpones a row without the knowledge of its dispatcher, as another dispatcher would.
func (w *world) move(id string, d time.Duration) {
	w.t.Helper()
	t := w.get(id)
	answers, err := w.store.Finish(w.t.Context(), timer.SystemClock(), []store.Finish{{
		Ref: w.ref(id), Kind: store.FinishPostponed, If: store.Guard{Revision: t.Revision},
		Next: w.revisions.Next(), NextAt: timer.SystemClock().Add(d),
	}})
	w.must(err)
	w.must(answers[0])
}

func TestI2_FailureIsGuardedByTheLeasesRevision(t *testing.T) {
	for name, fault := range map[string]func(*faulty){
		"answered": func(*faulty) {},
		"applied, answer lost": func(f *faulty) {
			f.set(nil, once(store.FinishLeased, store.ErrOutcomeUnknown))
		},
		"not applied, answer lost": func(f *faulty) {
			f.set(once(store.FinishLeased, store.ErrOutcomeUnknown), nil)
		},
		"applied late, after the row was read": func(f *faulty) {
			var late []store.Finish
			refuse := once(store.FinishLeased, store.ErrOutcomeUnknown)
			f.set(func(op string, items []store.Finish) error {
				err := refuse(op, items)
				if err != nil {
					late = slices.Clone(items)
				}
				return err
			}, func(op string, _ []store.Finish) error {
				if op == "current" && late != nil {
					_, err := f.Store.Finish(f.node.t.Context(), timer.SystemClock(), late)
					late = nil
					return err
				}
				return nil
			})
		},
		"applied, answer lost, row not read in time": func(f *faulty) {
			var blind atomic.Bool
			lose := once(store.FinishLeased, store.ErrOutcomeUnknown)
			f.set(func(op string, items []store.Finish) error {
				if isKind(items, store.FinishRetry) {
					blind.Store(false)
				}
				if op == "current" && blind.Load() {
					return store.ErrUnavailable
				}
				return nil
			}, func(op string, items []store.Finish) error {
				err := lose(op, items)
				if err != nil {
					blind.Store(true)
				}
				return err
			})
		},
		"refused": func(f *faulty) {
			f.set(once(store.FinishLeased, store.ErrUnavailable), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = answerAfter(3*time.Second, 500)
				n := w.start()
				fault(n.store)
				w.put("a", 0, nil)
				w.pass(5 * time.Second)
				now := w.wantStatus("a", timer.StatusRetrying)
				if now.Attempts != 1 || now.Starts != 0 {
					t.Fatalf("after the failure: %+v", now)
				}
				n.end()
			})
		})
	}
}

// once returns a fault that fails the first write of a kind.
func once(kind store.FinishKind, err error) func(string, []store.Finish) error {
	failed := false
	return func(op string, items []store.Finish) error {
		if op != "finish" || failed || !isKind(items, kind) {
			return nil
		}
		failed = true
		return err
	}
}

func TestI2_UnknownOutcomesAreResolved(t *testing.T) {
	for name, c := range map[string]struct {
		kind   store.FinishKind
		answer func(c call) dispatcher.Answer
		want   timer.Status
	}{
		"done":        {store.FinishDone, status(200), timer.StatusDone},
		"retry":       {store.FinishRetry, status(500), timer.StatusRetrying},
		"dead":        {store.FinishDead, status(410), timer.StatusDead},
		"rescheduled": {store.FinishRescheduled, again(time.Minute), timer.StatusScheduled},
	} {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, applied %t", name, applied), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.answer = func(_ context.Context, call call) dispatcher.Answer { return c.answer(call) }
					n := w.start()
					fault := once(c.kind, store.ErrOutcomeUnknown)
					if applied {
						n.store.set(nil, fault)
					} else {
						n.store.set(fault, nil)
					}
					first := w.put("a", 0, nil)
					w.pass(2 * time.Second)
					now := w.wantStatus("a", c.want)
					if now.Generation != first.Generation && c.kind != store.FinishRescheduled {
						t.Fatalf("%+v", now)
					}
					entries, err := w.store.History(t.Context(), timer.SystemClock(), w.ref("a"), 10)
					w.must(err)
					if len(entries) != 1 {
						t.Fatalf("history %+v, want one attempt", entries)
					}
					w.wantCalls("a", 1)
					w.wantDepth(0)
					n.end()
				})
			})
		}
	}
}

func status(code int) func(call) dispatcher.Answer {
	return func(call) dispatcher.Answer { return dispatcher.Answer{Status: code} }
}

func again(d time.Duration) func(call) dispatcher.Answer {
	return func(c call) dispatcher.Answer {
		return dispatcher.Answer{Status: 200, Body: []byte(`{"nextExecuteAt":"` + c.at.Add(d).String() + `"}`)}
	}
}
