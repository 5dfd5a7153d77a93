package ingest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// TestI8_NothingIsInTimeByAClockThatIsNotTrusted: after a suspension of the machine its monotonic clock is behind, so a
// timer that was already delivered seems to be due later. Changes are then refused. If the suspension is during the
// commit of a change, the answer is 202: the delivery may have gone out.
func TestI8_NothingIsInTimeByAClockThatIsNotTrusted(t *testing.T) {
	for _, c := range []struct {
		verb, body string
		sure       int
	}{
		{"timers/delete", `{"id":"a"}`, http.StatusNoContent},
		{"timers/update", `{"id":"a","executeIn":"1h"}`, http.StatusOK},
		{"timers/create", `{"id":"a","executeIn":"1h"}`, http.StatusOK},
	} {
		t.Run(c.verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clocks := faultstore.NewClocks()
				clock, stop := clocks.Start(t.Context())
				w := newWorld(t, func(config *ingest.Config) { config.Clock, config.StoreClock = clock.Settled, clock })
				suspend := func() {
					clocks.SetAway(true)
					clocks.Set(faultstore.Ahead{Monotonic: -time.Minute})
				}
				for _, during := range []string{"", "before", "commit"} {
					clocks.SetAway(false)
					clocks.Set(faultstore.Ahead{})
					time.Sleep(time.Second)
					made := w.post("timers/create", `{"id":"a","executeIn":"10s"}`)
					want := c.sure
					switch during {
					case "before":
						suspend()
						want = http.StatusServiceUnavailable
					case "commit":
						w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
							suspend()
							return do()
						})
						want = http.StatusAccepted
					}
					w.post(c.verb, c.body).must(t, want)
					w.store.set(nil)
					if got, err := w.row("a"); during == "before" && (err != nil || got.Generation.String() != made.field("generation")) {
						t.Errorf("a refused change was applied: %+v, %v", got, err)
					}
				}
				w.stop()
				stop()
			})
		})
	}
}

// TestI15_IngestFollowsAStepOfTheStoresClockWithinASecond in both directions: executeIn counts from the new time, and
// the new time decides whether a command is in time.
func TestI15_IngestFollowsAStepOfTheStoresClockWithinASecond(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clocks := faultstore.NewClocks()
				clock, stop := clocks.Start(t.Context())
				w := newWorld(t, func(config *ingest.Config) { config.Clock, config.StoreClock = clock.Settled, clock })
				time.Sleep(10 * time.Second)
				clocks.Set(faultstore.Ahead{Store: step})
				time.Sleep(time.Second)
				created := w.post("timers/create", `{"id":"a","executeIn":"1m"}`).must(t, http.StatusOK)
				at, err := time.Parse(time.RFC3339, fmt.Sprint(created.field("executeAt")))
				if err != nil {
					t.Fatal(err)
				}
				if off := time.Until(at) - step - time.Minute; off.Abs() > 10*time.Millisecond {
					t.Errorf("executeIn counts from a time that is wrong by %v", off)
				}
				w.post("timers/delete", `{"id":"a"}`).must(t, http.StatusNoContent)
				w.stop()
				stop()
			})
		})
	}
}

// slowBody is a body whose first byte arrives late.
type slowBody struct {
	io.Reader

	takes time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(b.takes)
	b.takes = 0
	return b.Reader.Read(p)
}

// TestABackfillIsNotRefusedByAClockThatIsNotTrusted: by a clock that is an hour behind, the range of a backfill has not passed.
func TestABackfillIsNotRefusedByAClockThatIsNotTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocks := faultstore.NewClocks()
		clock, stop := clocks.Start(t.Context())
		w := newWorld(t, func(config *ingest.Config) { config.Clock, config.StoreClock = clock.Settled, clock })
		w.post("schedules/create", `{"id":"s","specs":[{"every":"1s"}]}`).must(t, http.StatusOK)
		time.Sleep(10 * time.Second)
		body := fmt.Sprintf(`{"id":"s","from":%q,"to":%q}`, timer.SystemClock().Add(-3*time.Second), timer.SystemClock().Add(-time.Second))
		clocks.SetAway(true)
		clocks.Set(faultstore.Ahead{Monotonic: -time.Hour})
		w.post("schedules/backfill", body).must(t, http.StatusServiceUnavailable)
		stop()
	})
}

// TestI8_NoTimeIsComputedFromATimeThatWasNotTrusted: a request arrives while the clock is lost, and its body when the
// clock is right again. Its executeIn would count from the wrong time.
func TestI8_NoTimeIsComputedFromATimeThatWasNotTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocks := faultstore.NewClocks()
		clock, stop := clocks.Start(t.Context())
		w := newWorld(t, func(config *ingest.Config) { config.Clock, config.StoreClock = clock.Settled, clock })
		time.Sleep(time.Second)
		clocks.SetAway(true)
		clocks.Set(faultstore.Ahead{Monotonic: -time.Hour})
		healed := make(chan struct{})
		go func() { defer close(healed); time.Sleep(800 * time.Millisecond); clocks.SetAway(false) }()
		body := &slowBody{strings.NewReader(`{"id":"a","executeIn":"10m","callbackUrl":"http://x.example/"}`), time.Second}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/timers/create", body)
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		w.handler.ServeHTTP(response, request)
		<-healed
		if response.Code != http.StatusServiceUnavailable {
			t.Errorf("%d %s, want 503", response.Code, response.Body)
		}
		w.stop()
		stop()
	})
}

// TestI6_NothingIsWrittenByATimeThatWasNotTrusted: the clock is wrong when the time of a write is read, and right again
// before the write. A due time in the past would be before keys that schedulers have already read.
func TestI6_NothingIsWrittenByATimeThatWasNotTrusted(t *testing.T) {
	for verb, body := range map[string]string{
		"create": `{"id":"a","executeIn":"10m","callbackUrl":"http://x.example/"}`,
		"retry":  `{"timerId":"a","executeIn":"10m"}`,
	} {
		for reading := int32(1); reading <= 2; reading++ {
			t.Run(fmt.Sprint(verb, ", reading ", reading), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					clocks := faultstore.NewClocks()
					clock, stop := clocks.Start(t.Context())
					var lapse atomic.Int32 // 1: at the next reading
					w := newWorld(t, func(config *ingest.Config) {
						config.StoreClock = clock
						config.Clock = func() timer.Millis {
							if lapse.Add(-1) != 0 {
								return clock.Settled()
							}
							clocks.SetAway(true)
							clocks.Set(faultstore.Ahead{Monotonic: -time.Hour})
							time.Sleep(time.Second)
							wrong := clock.Settled()
							clocks.SetAway(false)
							time.Sleep(time.Second)
							return wrong
						}
					})
					time.Sleep(time.Second)
					if verb == "retry" {
						w.finished("a", store.FinishDead)
					}
					lapse.Store(reading)
					before := timer.SystemClock()
					r := w.post("timers/"+verb, body)
					if lapse.Load() > 0 {
						t.Errorf("the time was not read")
					}
					row, err := w.row("a")
					switch {
					case r.status == http.StatusServiceUnavailable:
					case err != nil:
						t.Error(err)
					case row.UpdatedAt < before || row.ExecuteAt < before.Add(10*time.Minute):
						t.Errorf("updated %v and due %v after the request", row.UpdatedAt.Sub(before), row.ExecuteAt.Sub(before))
					}
					w.stop()
					stop()
				})
			})
		}
	}
}

// TestI8_InTimeIsNotJudgedByATimeThatWasNotTrusted: the machine is suspended during the commit. The time after the
// commit is read while the clock is lost, and the clock is right again when ingest decides whether the command was in
// time.
func TestI8_InTimeIsNotJudgedByATimeThatWasNotTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocks := faultstore.NewClocks()
		clock, stop := clocks.Start(t.Context())
		var lapse atomic.Bool
		w := newWorld(t, func(config *ingest.Config) {
			config.StoreClock = clock
			config.Clock = func() timer.Millis {
				now := clock.Settled()
				if lapse.CompareAndSwap(true, false) {
					clocks.SetAway(false)
					time.Sleep(time.Second)
				}
				return now
			}
		})
		time.Sleep(time.Second)
		w.post("timers/create", `{"id":"a","executeIn":"10s"}`)
		w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			clocks.SetAway(true)
			clocks.Set(faultstore.Ahead{Monotonic: -time.Minute})
			time.Sleep(4 * time.Second)
			lapse.Store(true)
			return do()
		})
		time.Sleep(8 * time.Second) // committed 2 s after the due time
		w.post("timers/delete", `{"id":"a"}`).must(t, http.StatusAccepted)
		w.stop()
		stop()
	})
}
