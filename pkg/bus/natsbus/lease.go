package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/timerbus/timerbus/pkg/bus"
)

// lease keeps this process alive in the members bucket, whose keys expire after LeaseTTL, and
// watches who else is. One key for the whole process carries all its partitions: renewing costs the
// same for one partition as for a thousand.
type lease struct {
	bus    *Bus
	start  sync.Once
	cancel context.CancelFunc
	done   sync.WaitGroup
	dirty  chan struct{} // the groups changed: write the key now

	mu      sync.Mutex
	groups  []string // sorted; taking part
	leaving []string // sorted; taking no more, but sessions may still run
	term    *term    // nil while there is none
	alive   map[string]*seen
	changed chan struct{} // closed and replaced when groups, term or alive changed
}

// term is the time for which a member key lives. Its id is never used again, so that "this id is
// gone" stays true for ever.
type term struct {
	id     string
	ctx    context.Context // ends, with ErrLost, when the key is or may be gone
	cancel context.CancelCauseFunc
	until  atomic.Int64 // nanoseconds since born: the key lives until then at least
	born   time.Time
}

// valid reports whether the key is sure to live, by the monotonic clock.
func (t *term) valid() bool {
	return t.ctx.Err() == nil && int64(time.Since(t.born)) < t.until.Load()
}

// seen is a member's key as last seen.
type seen struct {
	memberValue
	at time.Time // of its last renewal, by our clock
}

// memberValue is what a member key holds.
type memberValue struct {
	Name    string   `json:"name"`
	Groups  []string `json:"groups,omitempty"`
	Leaving []string `json:"leaving,omitempty"`
}

// holds reports whether the member may have sessions in the group. A record of one that does not is
// a leftover, such as a take-over whose answer came after the member had left.
func (v *memberValue) holds(group string) bool {
	return slices.Contains(v.Groups, group) || slices.Contains(v.Leaving, group)
}

func (v *memberValue) equal(o *memberValue) bool {
	return slices.Equal(v.Groups, o.Groups) && slices.Equal(v.Leaving, o.Leaving)
}

func newLease(b *Bus) *lease {
	return &lease{
		bus:     b,
		dirty:   make(chan struct{}, 1),
		alive:   make(map[string]*seen),
		changed: make(chan struct{}),
	}
}

// join enters the process into a group; the first call starts the lease.
func (l *lease) join(group string) {
	l.start.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		l.cancel = cancel
		l.done.Go(func() { l.live(ctx) })
		l.done.Go(func() { l.watch(ctx) })
	})
	l.update(func() { l.groups = with(l.groups, group) })
}

// quit leaves the group's assignment; sessions may still run.
func (l *lease) quit(group string) {
	l.update(func() {
		l.groups = without(l.groups, group)
		l.leaving = with(l.leaving, group)
	})
}

// left says that no session of the group runs any more.
func (l *lease) left(group string) {
	l.update(func() { l.leaving = without(l.leaving, group) })
}

// with and without make new slices: old ones may be in use outside the lock.
func with(list []string, s string) []string {
	list = append(slices.Clone(list), s)
	slices.Sort(list)
	return list
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(o string) bool { return o == s })
}

func (l *lease) update(change func()) {
	l.mu.Lock()
	change()
	l.notify()
	l.mu.Unlock()
	select {
	case l.dirty <- struct{}{}:
	default:
	}
}

// notify wakes who waits on changed; l.mu is held.
func (l *lease) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// stop ends the lease in good order: others need not wait for its expiry.
func (l *lease) stop() {
	l.start.Do(func() { l.cancel = func() {} })
	l.cancel()
	l.done.Wait()
}

// view is what a group needs: the present term (nil if none), the members that take part, those that
// may have sessions, and a channel closed at the next change.
func (l *lease) view(group string) (t *term, members []string, holders map[string]bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	holders = make(map[string]bool, len(l.alive))
	for id, s := range l.alive {
		if s.holds(group) {
			holders[id] = true
		}
		if slices.Contains(s.Groups, group) {
			members = append(members, id)
		}
	}
	return l.term, members, holders, l.changed
}

// leasing names the lease in the log.
const leasing = "hold lease"

// live holds one term after the other.
func (l *lease) live(ctx context.Context) {
	for ctx.Err() == nil {
		t, revision, err := l.acquire(ctx)
		if err != nil {
			if ctx.Err() == nil {
				l.bus.outage.Failed(leasing, l.bus.plain(err))
			}
			l.bus.restoreBucket(ctx, membersBucket)
			pause(ctx, l.bus.opts.LeaseTTL/4)
			continue
		}
		l.bus.outage.Worked(leasing)
		l.mu.Lock()
		l.term = t
		l.notify()
		l.mu.Unlock()

		err = l.keep(ctx, t, revision)

		t.cancel(fmt.Errorf("%w: %w", bus.ErrLost, err))
		l.mu.Lock()
		l.term = nil
		delete(l.alive, t.id)
		l.notify()
		l.mu.Unlock()
		if ctx.Err() == nil {
			l.bus.outage.Failed(leasing, fmt.Errorf("lease lost: %w", err), "member", t.id)
		}
	}
}

func (l *lease) value() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, err := json.Marshal(memberValue{Name: l.bus.opts.Name, Groups: l.groups, Leaving: l.leaving})
	if err != nil {
		panic(fmt.Sprintf("natsbus: strings do not marshal: %v", err))
	}
	return v
}

func (l *lease) acquire(ctx context.Context) (*term, uint64, error) {
	ttl := l.bus.opts.LeaseTTL
	t := &term{id: nuid.Next(), born: time.Now()}
	create, cancel := context.WithTimeout(ctx, ttl)
	defer cancel()
	revision, err := l.bus.members.Create(create, t.id, l.value())
	if err != nil {
		return nil, 0, fmt.Errorf("create member %s: %w", t.id, err)
	}
	// The key's life counts from when the server got it, ours from before it was sent.
	t.until.Store(int64(ttl))
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t, revision, nil
}

// keep renews until the lease is gone, which it returns as an error, or ctx ends.
func (l *lease) keep(ctx context.Context, t *term, revision uint64) error {
	ttl := l.bus.opts.LeaseTTL
	deadline := func() time.Time { return t.born.Add(time.Duration(t.until.Load())) }
	wait := time.NewTimer(ttl / 3)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
		case <-l.dirty:
		case <-ctx.Done():
			l.give(t)
			return ctx.Err()
		}
		sent := time.Now()
		if !sent.Before(deadline()) {
			return errors.New("its time has passed")
		}
		renew, cancel := context.WithDeadline(ctx, deadline())
		next, err := l.bus.members.Update(renew, t.id, l.value(), revision)
		if err != nil && conflict(err) {
			// An earlier renewal may have arrived although its answer did not.
			next, err = l.adopt(renew, t, revision)
		}
		cancel()
		switch {
		case err == nil && next != revision:
			revision = next
			l.bus.outage.Worked(leasing)
			t.until.Store(int64(sent.Sub(t.born) + ttl))
			wait.Reset(ttl / 3)
		case errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrKeyDeleted):
			return errors.New("renewal refused: the key has expired")
		default:
			wait.Reset(ttl / 20) // try again soon, as long as the key may live
		}
	}
}

// adopt finds the revision under which our own key lives and renews on it: nobody else writes it.
func (l *lease) adopt(ctx context.Context, t *term, revision uint64) (uint64, error) {
	entry, err := l.bus.members.Get(ctx, t.id)
	if err != nil {
		return revision, err
	}
	return l.bus.members.Update(ctx, t.id, l.value(), entry.Revision())
}

// give deletes the key so that others see at once that this member left.
func (l *lease) give(t *term) {
	ctx, cancel := context.WithTimeout(context.Background(), l.bus.opts.LeaseTTL)
	defer cancel()
	if !l.bus.nc.IsConnected() {
		return // it will expire
	}
	if err := l.bus.members.Delete(ctx, t.id); err != nil {
		l.bus.log.Debug("lease left to expire", "member", t.id, "error", err)
	}
}

// gone asks the server whether a member has no session in the group any more. Only its answer makes
// the member's partitions free: what we have seen may be old.
func (l *lease) gone(ctx context.Context, id, group string) (bool, error) {
	entry, err := l.bus.members.Get(ctx, id)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted):
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, ok := l.alive[id]; ok {
			delete(l.alive, id)
			l.notify()
		}
		return true, nil
	case err != nil:
		return false, fmt.Errorf("look for member %s: %w", id, err)
	}
	var v memberValue
	if err := json.Unmarshal(entry.Value(), &v); err != nil {
		return false, fmt.Errorf("decode member %s: %w", id, err)
	}
	return !v.holds(group), nil
}

// conflict reports whether a compare-and-set lost. A replicated stream says so with a code of its own.
func conflict(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// pause waits; it reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
