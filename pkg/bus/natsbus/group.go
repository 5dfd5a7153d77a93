package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/assign"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// record is the value in the owners bucket for one partition of one group: the owner and the committed position. Both
// are in one value, so that every commit proves ownership, and every take-over makes the earlier owner's next commit
// fail. The key's revision is the fence.
type record struct {
	Owner string `json:"owner"` // a term's id; empty without an owner
	// The committed position; zero in Live mode.
	Epoch  int64 `json:"incarnation,omitempty"`
	Offset int64 `json:"offset,omitempty"`
	// Passed is the sequence up to which the stream has no unacknowledged message of the partition (gap.go). 0: the
	// record was written by an earlier release.
	Passed int64 `json:"passed,omitempty"`
	// Seen is the sequence of the last delivered message, and Time its server timestamp in Unix nanoseconds
	// (truncation.go).
	Seen int64 `json:"seen,omitempty"`
	Time int64 `json:"time,omitempty"`
	// Before is the epoch of sequences below Next. Both are set only while Offset is below a truncation.
	Before int64 `json:"before,omitempty"`
	Next   int64 `json:"next,omitempty"`
}

// entry is a record as last read, with its revision; 0 if there is no record.
type entry struct {
	record
	revision uint64
}

// groupName returns the group's name in keys: two words. Bytes that are invalid in a word are encoded as =XX.
func groupName(topic bus.Topic, group string) string { return word(string(topic)) + "." + word(group) }

func word(s string) string {
	var name strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "=%02X", c)
		}
	}
	if s == "" {
		name.WriteByte('=')
	}
	return name.String()
}

func recordKey(group string, p shard.Partition) string { return fmt.Sprintf("%s.%d", group, p) }

// group is one Consume call in a mode with partition owners. Only its loop accesses its fields; sessions report their
// end on the ended channel.
type group struct {
	bus      *Bus
	spec     bus.Spec
	open     bus.OpenSession
	base     context.Context
	name     string
	entries  []entry
	sessions map[shard.Partition]*session
	rests    map[shard.Partition]time.Time // end of the backoff before the next session
	ended    chan *session
	giveUp   context.CancelCauseFunc // ends the Consume with an error
	running  sync.WaitGroup
	health   *health.Consumer
}

func (b *Bus) consumeOwned(ctx context.Context, spec bus.Spec, open bus.OpenSession, h *health.Consumer) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	partitions := b.opts.Partitions
	if _, own := spec.Topic.OwnName(); own {
		partitions = 1
		if err := b.readable(ctx, spec.Topic); err != nil {
			return err
		}
	}
	g := &group{
		bus:      b,
		spec:     spec,
		open:     open,
		base:     context.WithoutCancel(ctx),
		name:     groupName(spec.Topic, spec.Group),
		entries:  make([]entry, partitions),
		sessions: make(map[shard.Partition]*session),
		rests:    make(map[shard.Partition]time.Time),
		ended:    make(chan *session, partitions),
		giveUp:   giveUp,
		health:   h,
	}
	b.lease.join(g.name)
	for ctx.Err() == nil {
		if err := g.run(ctx); err != nil {
			h.Waiting(health.Member, err)
			b.log.Debug("owner watch failed, retrying", "group", g.name, "error", err)
			b.restoreBucket(ctx, ownersBucket)
			timer.Sleep(ctx, b.opts.RetryPause)
		}
	}
	b.lease.quit(g.name)
	for _, s := range g.sessions {
		s.End(bus.ErrStopping)
	}
	g.running.Wait()
	b.lease.left(g.name)
	if cause := context.Cause(ctx); errors.Is(cause, bus.ErrNoTopic) {
		return fmt.Errorf("%w: %w", bus.ErrUnavailable, cause)
	}
	return nil
}

// run watches the group's records and starts and ends sessions according to them and to the members.
func (g *group) run(ctx context.Context) error {
	// After a reconnect the library resumes a watcher only after seconds, so run returns and is called again.
	link := g.bus.link.next()
	watcher, err := g.bus.owners.Watch(ctx, g.name+".*")
	if err != nil {
		return fmt.Errorf("watch owners: %w", err)
	}
	defer func() { _ = watcher.Stop() }()
	clear(g.entries) // the snapshot has all records; the revisions of a recreated bucket begin at 1
	complete := false
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	for {
		t, members, holders, changed := g.bus.lease.view(g.name)
		switch {
		case t == nil:
			g.health.Waiting(health.Member, errNoLease)
		case complete:
			if wait := g.reconcile(t, members, holders); wait > 0 {
				again.Reset(wait)
			}
		}
		select {
		case e, ok := <-watcher.Updates():
			if !ok {
				return errors.New("watch owners: ended")
			}
			if e == nil {
				complete = true
				continue
			}
			g.see(e)
		case s := <-g.ended:
			g.forget(s)
		case <-link:
			return errLinkChanged
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

var errNoLease = errors.New("this process has no lease")

// see updates a record. If the record has another owner, the partition's session is lost.
func (g *group) see(e jetstream.KeyValueEntry) {
	var p shard.Partition
	if _, err := fmt.Sscanf(e.Key()[strings.LastIndexByte(e.Key(), '.')+1:], "%d", &p); err != nil ||
		p < 0 || int(p) >= len(g.entries) || e.Revision() <= g.entries[p].revision {
		return
	}
	var r record
	if e.Operation() == jetstream.KeyValuePut {
		if err := json.Unmarshal(e.Value(), &r); err != nil {
			g.bus.log.Warn("owner record not readable", "key", e.Key(), "error", err)
			return
		}
	}
	g.entries[p] = entry{record: r, revision: e.Revision()}
	if s := g.sessions[p]; s != nil && r.Owner != "" && r.Owner != s.term.id {
		s.End(bus.ErrLost)
	}
}

func (g *group) forget(s *session) {
	if g.sessions[s.partition] == s {
		delete(g.sessions, s.partition)
	}
	if failures := s.Failures(); failures > 0 {
		g.rests[s.partition] = time.Now().Add(health.Backoff(g.bus.opts.RetryPause, failures))
	}
}

// reconcile revokes the partitions that should have another owner, and takes the free partitions that this member
// should own. It returns after how long it must be called again; 0 means at the next change.
func (g *group) reconcile(t *term, members []string, holders map[string]bool) time.Duration {
	if !slices.Contains(members, t.id) {
		return 0 // the watcher has not seen this member's key yet
	}
	var again time.Duration
	later := func(d time.Duration) {
		if again == 0 || d < again {
			again = d
		}
	}
	owners := assign.Owners(g.name, members, len(g.entries))
	for i, want := range owners {
		p := shard.Partition(i)
		if s := g.sessions[p]; s != nil {
			if want != t.id {
				s.End(bus.ErrRevoked)
			}
			continue
		}
		owner := g.entries[p].Owner
		if want != t.id {
			g.health.Works(health.Partition(p)) // failures of the partition no longer concern this member
			if owner == t.id {                  // a stale record of this member prevents others from taking the partition
				if err := g.clear(p); err != nil {
					later(g.bus.opts.RetryPause)
				}
			}
			continue
		}
		if rest := time.Until(g.rests[p]); rest > 0 {
			later(rest)
			continue
		}
		if owner != t.id && holders[owner] {
			continue // a change of its record or its key will follow
		}
		g.health.Opening(health.Partition(p))
		if err := g.take(t, p); err != nil {
			g.bus.log.Debug("partition not taken", "group", g.name, "partition", int(p), "error", err)
			if unanswered(err) {
				g.bus.restoreBucket(g.base, ownersBucket)
			}
			later(g.bus.opts.RetryPause)
		}
	}
	g.health.Works(health.Member)
	return again
}

// take acquires the partition by compare-and-set and starts a session.
func (g *group) take(t *term, p shard.Partition) error {
	// The end of Consume does not cancel the write: if it succeeded after a cancellation, the record would be stale.
	ctx, cancel := context.WithTimeout(g.base, g.bus.opts.LeaseTTL)
	defer cancel()
	e := g.entries[p]
	if e.Owner != "" && e.Owner != t.id {
		gone, err := g.bus.lease.gone(ctx, e.Owner, g.name)
		if err != nil {
			return err
		}
		if !gone {
			return fmt.Errorf("take partition %d: member %s still owns it", p, e.Owner)
		}
	}
	e.Owner = t.id
	revision, err := g.bus.write(ctx, recordKey(g.name, p), e.record, e.revision)
	if err != nil {
		if conflict(err) {
			err = errors.Join(err, g.look(ctx, p)) // the entry is out of date
		}
		return fmt.Errorf("take partition %d: %w", p, err)
	}
	e.revision = revision
	g.entries[p] = e
	s := newOwnedSession(g, t, p, e)
	g.sessions[p] = s
	g.running.Go(func() {
		s.run()
		g.ended <- s
	})
	return nil
}

// look reads the present record.
func (g *group) look(ctx context.Context, p shard.Partition) error {
	found, err := g.bus.owners.Get(ctx, recordKey(g.name, p))
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("read record: %w", err)
	}
	g.entries[p] = entry{}
	if err == nil {
		g.see(found)
	}
	return nil
}

// clear releases a record that names this member although the member has no session of the partition.
func (g *group) clear(p shard.Partition) error {
	ctx, cancel := context.WithTimeout(g.base, g.bus.opts.LeaseTTL)
	defer cancel()
	h := &holding{bus: g.bus, key: recordKey(g.name, p), entry: g.entries[p]}
	if err := h.release(ctx); err != nil {
		return errors.Join(fmt.Errorf("free partition %d: %w", p, err), g.look(ctx, p))
	}
	g.entries[p] = h.entry
	return nil
}

// write stores a record by compare-and-set on its revision; 0 creates the record.
func (b *Bus) write(ctx context.Context, key string, r record, revision uint64) (uint64, error) {
	value, err := json.Marshal(r)
	if err != nil {
		return 0, fmt.Errorf("encode record %s: %w", key, err)
	}
	if revision == 0 {
		return b.owners.Create(ctx, key, value)
	}
	return b.owners.Update(ctx, key, value, revision)
}
