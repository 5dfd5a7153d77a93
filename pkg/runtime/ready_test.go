package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadinessAsksAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		failure := errors.New("10.0.0.7 is away")
		fail := false
		r := NewReadiness(time.Second, slog.New(slog.DiscardHandler),
			Question{"the first does not answer", func(context.Context) error { return nil }},
			Question{"the second does not answer", func(ctx context.Context) error {
				asked++
				if _, bounded := ctx.Deadline(); !bounded {
					t.Error("a question without a bound")
				}
				if fail {
					return failure
				}
				return nil
			}})
		for range 10 {
			if got := r.Ask(); len(got) != 0 {
				t.Fatalf("not ready: %v", got)
			}
		}
		fail = true
		if got := r.Ask(); len(got) != 0 || asked != 1 {
			t.Errorf("%v, asked %d times within a second", got, asked)
		}
		time.Sleep(time.Second)
		got := r.Ask()
		if len(got) != 1 || got[0].Reason != "the second does not answer" || !errors.Is(got[0], failure) || asked != 2 {
			t.Errorf("%v, asked %d times", got, asked)
		}
		// A recovery is seen soon.
		fail = false
		if got := r.Ask(); len(got) != 1 || asked != 2 {
			t.Errorf("%v, asked %d times at once", got, asked)
		}
		time.Sleep(50 * time.Millisecond)
		if got := r.Ask(); len(got) != 0 || asked != 3 {
			t.Errorf("not ready 50 ms after everything works: %v, asked %d times", got, asked)
		}
	})
}

// full is an error that knows its reason.
type full struct{}

func (full) Error() string       { return "disk 7 of 10.0.0.7 is full" }
func (full) ReadyReason() string { return "the disk is full" }

func TestAnErrorMayNameTheReason(t *testing.T) {
	r := NewReadiness(time.Second, slog.New(slog.DiscardHandler),
		Question{"the first does not answer", func(context.Context) error { return fmt.Errorf("ping: %w", full{}) }},
		Question{"the second does not answer", func(context.Context) error { return errors.New("away") }})
	got := r.Ask()
	if len(got) != 2 || got[0].Reason != "the disk is full" || got[1].Reason != "the second does not answer" {
		t.Errorf("the reasons are %v", got)
	}
}

// TestTheEndOfAnOutageIsSeenSoon: that something does not work is cached for a shorter time than that all does.
func TestTheEndOfAnOutageIsSeenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down, asked := true, 0
		r := NewReadiness(time.Second, slog.New(slog.DiscardHandler), Question{
			Reason: "the store does not answer", Ask: func(context.Context) error {
				asked++
				if down {
					return errors.New("away")
				}
				return nil
			},
		})
		for range 10 {
			if len(r.Ask()) == 0 {
				t.Fatal("ready without a store")
			}
		}
		if asked != 1 {
			t.Errorf("10 probes asked %d times, want once", asked)
		}
		down = false
		time.Sleep(100 * time.Millisecond)
		if left := r.Ask(); len(left) != 0 {
			t.Errorf("100 ms after the end of the outage: %v", left)
		}
	})
}
