package consume_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// fake is a source and the service's session. It records the calls, in order.
type fake struct {
	session    *consume.Session
	mu         sync.Mutex
	calls      []string
	deliveries chan *bus.Delivery
	starts     error       // Start's result
	delivers   error       // Deliver's result
	closing    func(*fake) // runs in Close
	gaps       []bus.Gap   // found before the first delivery
}

func (f *fake) Start(context.Context) error { f.call("start"); return f.starts }

func (f *fake) Next(ctx context.Context) (*bus.Delivery, error) {
	select {
	case d := <-f.deliveries:
		for _, gap := range f.gaps {
			f.session.Missed(gap)
		}
		f.gaps = nil
		return d, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fake) Finish(_ context.Context, commit bool) error {
	f.call(fmt.Sprintf("finish %t", commit))
	return nil
}

func (f *fake) Deliver(_ context.Context, d *bus.Delivery) error {
	f.call("deliver")
	return f.delivers
}

func (f *fake) Missed(_ context.Context, gap bus.Gap) { f.call(fmt.Sprint("missed ", gap.Messages)) }

func (f *fake) Close(_ context.Context, cause error) error {
	f.call("close " + cause.Error())
	if f.closing != nil {
		f.closing(f)
	}
	f.call("closed")
	return nil
}

func (f *fake) call(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, name)
}

func newFake(t *testing.T, opens error) *fake {
	t.Helper()
	f := &fake{deliveries: make(chan *bus.Delivery, 10)}
	f.session = consume.New(consume.Config{
		Base: t.Context(), Log: slog.New(slog.DiscardHandler), CloseWait: time.Second, FinishWait: time.Second,
		Open:   func(context.Context, shard.Partition) (bus.Session, error) { return f, opens },
		Opened: func() { f.call("opened") },
		Failed: func(err error) int { f.call("failed: " + err.Error()); return 3 },
		Late:   func() { f.call("late") },
	})
	return f
}

var errBroken = errors.New("broken")

// TestI10_ALostSessionIsNotCommitted: the partition may have another owner, whose position a commit would move back.
func TestI10_ALostSessionIsNotCommitted(t *testing.T) {
	lost := fmt.Errorf("%w: expired", bus.ErrLost)
	for name, c := range map[string]struct {
		cause   error
		closing func(*fake)
		want    []string // after Close was called
	}{
		"revoked":              {cause: bus.ErrRevoked, want: []string{"closed", "finish true"}},
		"stopping":             {cause: bus.ErrStopping, want: []string{"closed", "finish true"}},
		"lost":                 {cause: lost, want: []string{"closed", "finish false"}},
		"lost after a revoke":  {cause: bus.ErrRevoked, closing: func(f *fake) { f.session.End(lost) }, want: []string{"closed", "finish false"}},
		"revoked after a loss": {cause: lost, closing: func(f *fake) { f.session.End(bus.ErrRevoked) }, want: []string{"closed", "finish false"}},
		"not closed in time": {
			cause: bus.ErrRevoked, closing: func(*fake) { time.Sleep(time.Minute) }, want: []string{"finish false", "late", "closed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, nil)
				f.closing = c.closing
				f.session.End(c.cause)
				f.session.Run(f)
				want := append([]string{"start", "opened", "close " + c.cause.Error()}, c.want...)
				if !slices.Equal(f.calls, want) || !f.session.Void() || f.session.Failures() != 0 {
					t.Errorf("%q, void %t, %d failures, want %q, void, no failures", f.calls, f.session.Void(), f.session.Failures(), want)
				}
			})
		})
	}
}

// TestAFailedSessionEndsAsLost: its messages are read again in the next session.
func TestAFailedSessionEndsAsLost(t *testing.T) {
	for name, c := range map[string]struct {
		starts, opens, delivers error
		want                    []string
	}{
		"start": {starts: errBroken, want: []string{"start", "failed: start: broken", "finish false"}},
		"open":  {opens: errBroken, want: []string{"start", "failed: open: broken", "finish false"}},
		"deliver": {delivers: errBroken, want: []string{
			"start", "opened", "missed 5", "deliver", "failed: deliver: broken", "close partition lost: deliver: broken", "closed", "finish false",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.opens)
			f.starts, f.delivers, f.gaps = c.starts, c.delivers, []bus.Gap{{Messages: 5}}
			f.deliveries <- &bus.Delivery{}
			f.session.Run(f)
			if !slices.Equal(f.calls, c.want) || f.session.Failures() != 3 || !errors.Is(f.session.Cause(), bus.ErrLost) {
				t.Errorf("%q, %d failures, cause %v, want %q", f.calls, f.session.Failures(), f.session.Cause(), c.want)
			}
		})
	}
}

// TestNackRestarts: until the restart no message is accepted, and acknowledgements from before it have no effect.
func TestNackRestarts(t *testing.T) {
	f := newFake(t, nil)
	acks := consume.NewAcks(f.session, &bus.Spec{MaxInFlight: 3, MaxBytes: 100}, 0)
	accept := func(offset int64) *bus.Delivery {
		return acks.Accept(offset, 1, bus.Delivery{Position: bus.Position{Offset: offset}})
	}
	first, second, third := accept(1), accept(2), accept(3)
	if accept(4) != nil {
		t.Error("a delivery beyond MaxInFlight was accepted")
	}
	first.Ack()
	third.Ack()
	second.Nack(0)
	if restart, at := acks.Restarting(); !restart || time.Now().Before(at) || accept(4) != nil {
		t.Errorf("restarting %t at %v, want a restart now, and no new delivery", restart, at)
	}
	acks.Restarted()
	if restart, _ := acks.Restarting(); restart || acks.Committed() != 1 {
		t.Errorf("restarting %t after %d, want no restart, and offset 1", restart, acks.Committed())
	}
	again := accept(2)
	second.Ack()
	if acks.Committed() != 1 {
		t.Error("an acknowledgement from before the restart counts")
	}
	again.Ack()
	f.session.End(bus.ErrLost)
	accept(3).Ack()
	if acks.Committed() != 2 {
		t.Errorf("committed %d, want 2: acknowledgements after a loss have no effect", acks.Committed())
	}
}
