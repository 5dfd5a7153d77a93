package natsbus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/timer"
)

// watch keeps the view of the live members. It starts a new watcher when the connection changes: the old one may have
// missed a key's expiry and even the marker of that expiry.
func (l *lease) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := l.follow(ctx); err != nil {
			l.bus.log.Debug("member watch failed, retrying", "error", err)
			timer.Sleep(ctx, l.bus.opts.LeaseTTL/10)
		}
	}
}

func (l *lease) follow(ctx context.Context) error {
	changed := l.bus.link.next()
	watcher, err := l.bus.members.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("watch members: %w", err)
	}
	defer func() { _ = watcher.Stop() }()
	snapshot := make(map[string]*seen) // nil once it is complete
	check := time.NewTicker(2 * l.bus.opts.LeaseTTL)
	defer check.Stop()
	for {
		select {
		case entry, ok := <-watcher.Updates():
			switch {
			case !ok:
				return fmt.Errorf("watch members: ended")
			case entry == nil:
				l.replace(snapshot)
				snapshot = nil
			default:
				l.see(entry, snapshot)
			}
		case <-check.C:
			l.doubt(ctx)
		case <-changed:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *lease) replace(snapshot map[string]*seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alive = snapshot
	l.notify()
}

// see applies one change of a member's key.
func (l *lease) see(entry jetstream.KeyValueEntry, snapshot map[string]*seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	into := l.alive
	if snapshot != nil {
		into = snapshot
	}
	id := entry.Key()
	if entry.Operation() != jetstream.KeyValuePut {
		if _, ok := into[id]; ok {
			delete(into, id)
			l.notify()
		}
		return
	}
	var v memberValue
	if err := json.Unmarshal(entry.Value(), &v); err != nil {
		l.bus.log.Warn("member key not readable", "member", id, "error", err)
		return
	}
	known := into[id]
	if known == nil || !known.equal(&v) {
		into[id] = &seen{memberValue: v, at: time.Now()}
		l.notify()
		return
	}
	known.at = time.Now()
}

// doubt asks the server about members that have not renewed for two TTLs, in case their expiry was missed.
func (l *lease) doubt(ctx context.Context) {
	l.mu.Lock()
	var silent []string
	for id, s := range l.alive {
		if time.Since(s.at) > 2*l.bus.opts.LeaseTTL {
			silent = append(silent, id)
		}
	}
	l.mu.Unlock()
	for _, id := range silent {
		ask, cancel := context.WithTimeout(ctx, l.bus.opts.LeaseTTL)
		if _, err := l.gone(ask, id, ""); err != nil {
			l.bus.log.Debug("member lookup failed", "member", id, "error", err)
		}
		cancel()
	}
}
