package process

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// diary records events in order.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) note(entry string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, entry)
}

// obedient is a component that stops when its context ends.
func (d *diary) obedient(name string) Component {
	return Component{Name: name, Run: func(ctx context.Context) error {
		<-ctx.Done()
		d.note(name)
		return nil
	}}
}

func group(parts ...Component) *Group {
	return &Group{Components: parts, Drain: 10 * time.Second, Logger: slog.New(slog.DiscardHandler)}
}

func TestGroupStopsInReverseOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		server := d.obedient("server")
		server.Stop = func(context.Context) error {
			d.note("server drained")
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait() // all parts run
			cancel()
		}()
		if err := group(d.obedient("store"), d.obedient("bus"), server).Run(ctx); err != nil {
			t.Error(err)
		}
		if want := []string{"server drained", "server", "bus", "store"}; !slices.Equal(d.entries, want) {
			t.Errorf("stopped %v, want %v", d.entries, want)
		}
	})
}

func TestGroupDiesWithItsFirstPart(t *testing.T) {
	broken := errors.New("broken")
	for name, death := range map[string]error{"with an error": broken, "without one": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d diary
				mortal := Component{Name: "bus", Run: func(context.Context) error { return death }}
				err := group(d.obedient("store"), mortal, d.obedient("server")).Run(t.Context())
				if err == nil || !strings.HasPrefix(err.Error(), "bus") || death != nil && !errors.Is(err, death) {
					t.Errorf("error %v, want one about the bus", err)
				}
				if want := []string{"server", "store"}; !slices.Equal(d.entries, want) {
					t.Errorf("stopped %v, want %v", d.entries, want)
				}
			})
		})
	}
}

func TestGroupGivesUpAtTheDrainDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		release := make(chan struct{})
		stubborn := Component{Name: "stubborn", Run: func(context.Context) error {
			<-release
			return nil
		}}
		slow := d.obedient("slow")
		slow.Stop = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		err := group(d.obedient("store"), stubborn, slow).Run(ctx)
		if !errors.Is(err, ErrNotDrained) || !strings.Contains(err.Error(), "stubborn") || !strings.Contains(err.Error(), "slow") {
			t.Errorf("error %v, want ErrNotDrained about stubborn and slow", err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("gave up after %v, want the drain timeout", took)
		}
		close(release)
		synctest.Wait()
	})
}

func TestGroupTellsWhatWentWrongWhileStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("flush failed")
		part := Component{Name: "bus", Run: func(ctx context.Context) error {
			<-ctx.Done()
			return broken
		}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := group(part).Run(ctx); !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
	})
}
