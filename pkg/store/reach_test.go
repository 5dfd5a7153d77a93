package store_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

// database is a store whose Due and Ping a test sets.
type database struct {
	store.Store

	mu        sync.Mutex
	due, ping func(ctx context.Context) error
	items     error // the error of each shard of Due
	pings     int
}

func answered(context.Context) error { return nil }

func refused(context.Context) error { return store.ErrUnavailable }

func hangs(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func takes(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (d *database) set(due, ping func(ctx context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.due, d.ping, d.pings = due, ping, 0
}

func (d *database) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	d.mu.Lock()
	due := d.due
	d.mu.Unlock()
	if err := due(ctx); err != nil {
		return nil, err
	}
	out := make([]store.DueShard, len(q.Shards))
	for i := range out {
		out[i].Err = d.items
	}
	return out, nil
}

func (d *database) Ping(ctx context.Context) error {
	d.mu.Lock()
	ping := d.ping
	d.pings++
	d.mu.Unlock()
	return ping(ctx)
}

// inReach runs a test with a Reach in a synctest bubble.
func inReach(t *testing.T, test func(t *testing.T, d *database, r *store.Reach)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &database{due: answered, ping: answered}
		r := store.NewReach(d, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Errorf("run: %v", err)
			}
		})
		test(t, d, r)
		cancel()
		running.Wait()
	})
}

func due(ctx context.Context, r *store.Reach) error {
	_, err := r.Due(ctx, store.DueQuery{Shards: make([]store.DueAfter, 2)})
	return err
}

func lost(r *store.Reach) bool {
	synctest.Wait()
	select {
	case <-r.Lost():
		return true
	default:
		return false
	}
}

func TestAStoreThatAnswersNothingIsLostAfterTwoSeconds(t *testing.T) {
	for name, fault := range map[string]func(context.Context) error{"refused": refused, "hangs": hangs} {
		t.Run(name, func(t *testing.T) {
			inReach(t, func(t *testing.T, d *database, r *store.Reach) {
				time.Sleep(time.Minute)
				d.set(fault, fault)
				began := time.Now()
				err := make(chan error, 1)
				go func() { err <- due(t.Context(), r) }()
				<-r.Lost()
				if after := time.Since(began); after != 2*time.Second {
					t.Errorf("lost after %v, want 2s", after)
				}
				if err := <-err; !errors.Is(err, store.ErrUnavailable) || time.Since(began) != 2*time.Second {
					t.Errorf("the running call ended after %v with %v", time.Since(began), err)
				}
				d.set(hangs, fault)
				if err := due(t.Context(), r); !errors.Is(err, store.ErrUnavailable) || time.Since(began) != 2*time.Second {
					t.Errorf("a call to a lost store ended after %v with %v, want an error at once", time.Since(began), err)
				}
				time.Sleep(10 * time.Second)
				if !lost(r) {
					t.Fatal("the store is not lost, although no probe was answered")
				}
				d.set(answered, answered)
				healed := time.Now()
				if !r.Await(t.Context()) || time.Since(healed) > 1250*time.Millisecond {
					t.Errorf("found after %v, want a probe and a pause at most", time.Since(healed))
				}
				if err := due(t.Context(), r); err != nil || lost(r) {
					t.Errorf("found, and a call ended with %v", err)
				}
			})
		})
	}
}

func TestAStoreThatAnswersProbesIsNotLost(t *testing.T) {
	for name, fault := range map[string]func(context.Context) error{
		"slow call": takes(8 * time.Second), "hanging call": hangs, "refused call": refused,
	} {
		t.Run(name, func(t *testing.T) {
			inReach(t, func(t *testing.T, d *database, r *store.Reach) {
				d.set(fault, takes(100*time.Millisecond))
				began := time.Now()
				for time.Since(began) < time.Minute {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					_ = due(ctx, r)
					cancel()
					time.Sleep(10 * time.Millisecond)
				}
				if lost(r) {
					t.Error("lost, although it answers probes")
				}
				if d.pings < 60 || d.pings > 200 {
					t.Errorf("%d probes in a minute, want one about every 350 or 600 ms", d.pings)
				}
			})
		})
	}
}

func TestAStoreThatAnswersCallsIsNotProbed(t *testing.T) {
	inReach(t, func(t *testing.T, d *database, r *store.Reach) {
		d.set(takes(300*time.Millisecond), refused)
		for range 100 {
			if err := due(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if d.pings > 0 || lost(r) {
			t.Errorf("%d probes", d.pings)
		}
	})
}

func TestAStoreThatAnswersForNoItemIsProbed(t *testing.T) {
	inReach(t, func(t *testing.T, d *database, r *store.Reach) {
		d.set(answered, refused)
		d.items = store.ErrUnavailable
		for range 10 {
			if err := due(t.Context(), r); err != nil {
				break
			}
			time.Sleep(250 * time.Millisecond)
		}
		if !lost(r) {
			t.Error("not lost, although each item of each call has failed")
		}
		if _, err := r.Due(t.Context(), store.DueQuery{}); err != nil {
			t.Errorf("an empty batch: %v", err)
		}
	})
}

// TestAFullStoreIsNotLost: other processes could not write either.
func TestAFullStoreIsNotLost(t *testing.T) {
	inReach(t, func(t *testing.T, d *database, r *store.Reach) {
		full := func(context.Context) error { return errors.Join(store.ErrUnavailable, store.ErrFull) }
		d.set(full, full)
		for range 100 {
			_ = due(t.Context(), r)
			time.Sleep(100 * time.Millisecond)
		}
		if lost(r) {
			t.Error("lost")
		}
	})
}

// TestAStoreThatComesAndGoesIsLostOnceAMinute: each loss costs a handover of partitions.
func TestAStoreThatComesAndGoesIsLostOnceAMinute(t *testing.T) {
	inReach(t, func(t *testing.T, d *database, r *store.Reach) {
		losses, was := 0, false
		count := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				_ = due(t.Context(), r)
				is := lost(r)
				if is && !was {
					losses++
				}
				was = is
			}
		}
		for range 60 {
			d.set(refused, refused)
			count(3 * time.Second)
			d.set(answered, answered)
			count(2 * time.Second)
		}
		if losses > 5 {
			t.Errorf("lost %d times in 60 short outages within five minutes, want once a minute at most", losses)
		}
		count(time.Minute)
		before := losses
		d.set(refused, refused)
		count(3 * time.Second)
		if losses != before+1 {
			t.Errorf("lost %d times, want once more after a minute without an outage", losses-before)
		}
	})
}

func TestANilReachIsNeverLost(t *testing.T) {
	var r *store.Reach
	ctx, cancel := context.WithCancel(t.Context())
	if !r.Await(ctx) || r.Lost() != nil || r.Next(ctx) != nil {
		t.Error("lost")
	}
	cancel()
	if r.Await(ctx) {
		t.Error("awaited with an ended context")
	}
}
