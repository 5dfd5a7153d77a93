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
	"github.com/timerbus/timerbus/pkg/timer"
)

// lease keeps this process's key in the members bucket, whose keys expire after LeaseTTL, and watches the keys of
// other processes. One key covers all partitions of the process, so the cost of renewal does not depend on their
// number.
type lease struct {
	bus    *Bus
	start  sync.Once
	cancel context.CancelFunc
	done   sync.WaitGroup
	dirty  chan struct{} // the groups have changed: write the key now

	mu      sync.Mutex
	groups  []string // sorted; groups that this member takes part in
	leaving []string // sorted; groups that take no more partitions, but may still have sessions
	term    *term    // nil without a valid key
	alive   map[string]*seen
	changed chan struct{} // closed and replaced when groups, term or alive change
}

// term is the lifetime of one member key. Its id is never reused, so an id that is gone once is gone permanently.
type term struct {
	id     string
	ctx    context.Context // ends, with ErrLost, when the key has or may have expired
	cancel context.CancelCauseFunc
	until  atomic.Int64 // nanoseconds since born; the key exists at least until then
	born   time.Time
}

// valid reports whether the key certainly still exists, by the monotonic clock.
func (t *term) valid() bool {
	return t.ctx.Err() == nil && int64(time.Since(t.born)) < t.until.Load()
}

// seen is a member's key as last read.
type seen struct {
	memberValue
	at time.Time // time of its last renewal, by this process's clock
}

// memberValue is the value of a member key.
type memberValue struct {
	Name    string   `json:"name"`
	Groups  []string `json:"groups,omitempty"`
	Leaving []string `json:"leaving,omitempty"`
}

// holds reports whether the member may have sessions in the group. If it does not, a record that names it is stale,
// for example after a take-over whose reply came after the member had left.
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

// join adds the process to a group. The first call starts the lease.
func (l *lease) join(group string) {
	l.start.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		l.cancel = cancel
		l.done.Go(func() { l.live(ctx) })
		l.done.Go(func() { l.watch(ctx) })
	})
	l.update(func() { l.groups = with(l.groups, group) })
}

// quit removes the process from the group's assignment; sessions may still run.
func (l *lease) quit(group string) {
	l.update(func() {
		l.groups = without(l.groups, group)
		l.leaving = with(l.leaving, group)
	})
}

// left records that no session of the group runs any more.
func (l *lease) left(group string) {
	l.update(func() { l.leaving = without(l.leaving, group) })
}

// with and without return new slices, because old ones may be in use outside the lock.
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

// notify signals a change to the receivers of changed. The caller must lock l.mu.
func (l *lease) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// stop deletes the key, so that other members need not wait until it expires.
func (l *lease) stop() {
	l.start.Do(func() { l.cancel = func() {} })
	l.cancel()
	l.done.Wait()
}

// view returns the present term (nil if there is none), the members that take part in the group, the members that may
// have sessions, and a channel that is closed at the next change.
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

// leasing is the name of the lease in the outage log.
const leasing = "hold lease"

// live acquires and renews terms, one after the other, until ctx ends.
func (l *lease) live(ctx context.Context) {
	for ctx.Err() == nil {
		t, revision, err := l.acquire(ctx)
		if err != nil {
			if ctx.Err() == nil {
				l.bus.outage.Failed(leasing, l.bus.plain(err))
			}
			l.bus.restoreBucket(ctx, membersBucket)
			timer.Sleep(ctx, l.bus.opts.LeaseTTL/4)
			continue
		}
		l.bus.outage.Succeeded(leasing)
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
	// The server counts the lifetime from when it received the request, this process from before it sent the request.
	t.until.Store(int64(ttl))
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t, revision, nil
}

// keep renews the key until it has expired, which it returns as an error, or ctx ends.
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
			return errors.New("its deadline has passed")
		}
		renew, cancel := context.WithDeadline(ctx, deadline())
		next, err := l.bus.members.Update(renew, t.id, l.value(), revision)
		if err != nil && conflict(err) {
			// An earlier renewal may have succeeded although its reply was lost.
			next, err = l.adopt(renew, t, revision)
		}
		cancel()
		switch {
		case err == nil && next != revision:
			revision = next
			l.bus.outage.Succeeded(leasing)
			t.until.Store(int64(sent.Sub(t.born) + ttl))
			wait.Reset(ttl / 3)
		case errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrKeyDeleted):
			return errors.New("renewal refused: the key has expired")
		default:
			wait.Reset(ttl / 20) // retry soon, as long as the key may exist
		}
	}
}

// adopt reads the present revision of this member's key and renews from it. No other process writes the key.
func (l *lease) adopt(ctx context.Context, t *term, revision uint64) (uint64, error) {
	entry, err := l.bus.members.Get(ctx, t.id)
	if err != nil {
		return revision, err
	}
	return l.bus.members.Update(ctx, t.id, l.value(), entry.Revision())
}

// give deletes the key, so that other members see immediately that this member has left.
func (l *lease) give(t *term) {
	ctx, cancel := context.WithTimeout(context.Background(), l.bus.opts.LeaseTTL)
	defer cancel()
	if !l.bus.nc.IsConnected() {
		return // the key will expire
	}
	if err := l.bus.members.Delete(ctx, t.id); err != nil {
		l.bus.log.Debug("lease left to expire", "member", t.id, "error", err)
	}
}

// gone asks the server whether a member has no session in the group any more. A partition is free only after the
// server has confirmed this, because the watched state may be out of date.
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
		return false, fmt.Errorf("look up member %s: %w", id, err)
	}
	var v memberValue
	if err := json.Unmarshal(entry.Value(), &v); err != nil {
		return false, fmt.Errorf("decode member %s: %w", id, err)
	}
	return !v.holds(group), nil
}

// conflict reports whether a compare-and-set failed on the revision. Replicated streams have a separate error code
// for it.
func conflict(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
