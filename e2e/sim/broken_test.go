package sim_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/e2e/sim"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
	ingestservice "github.com/timerbus/timerbus/services/ingest"
)

// deadAnyway answers dead writes that missed as if they had been applied.
type deadAnyway struct{ dispatcher.Store }

func (s *deadAnyway) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	answers, err := s.Store.Finish(ctx, now, items)
	for i := range answers {
		if items[i].Kind == store.FinishDead {
			answers[i] = nil
		}
	}
	return answers, err
}

// parkedUnwritten does not make parked writes, and answers them as if they had been applied.
type parkedUnwritten struct{ dispatcher.Store }

func (s *parkedUnwritten) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	for i := range items {
		if items[i].Kind == store.FinishParked {
			return make([]error, len(items)), nil
		}
	}
	return s.Store.Finish(ctx, now, items)
}

// forged makes the statements chosen by tune unfenced: they have the newest claim, even if another owner made it.
func forged(tune func(*forger)) func() func(*sim.Configs) {
	return func() func(*sim.Configs) {
		shared := &claims{newest: map[shard.ID]store.Claim{}}
		return func(c *sim.Configs) {
			f := &forger{Shards: c.Scheduler.Store, claims: shared}
			tune(f)
			c.Scheduler.Store = f
		}
	}
}

type claims struct {
	mu     sync.Mutex
	newest map[shard.ID]store.Claim
}

// real returns the newest claim of the shard.
func (c *claims) real(of store.Claim) store.Claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest[of.Shard]
}

type forger struct {
	store.Shards

	claims                            *claims
	due, overdue, advance, oneVersion bool
}

func (f *forger) Claim(
	ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID,
) ([]store.Claimed, error) {
	claimed, err := f.Shards.Claim(ctx, now, owner, shards)
	f.claims.mu.Lock()
	defer f.claims.mu.Unlock()
	for i := range claimed {
		f.claims.newest[claimed[i].Claim.Shard] = claimed[i].Claim
		if f.oneVersion {
			claimed[i].Claim.Version = 1
		}
	}
	return claimed, err
}

func (f *forger) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	q.Shards = slices.Clone(q.Shards)
	for i := range q.Shards {
		if f.due {
			q.Shards[i].Claim = f.claims.real(q.Shards[i].Claim)
		}
	}
	return f.Shards.Due(ctx, q)
}

func (f *forger) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	q.Shards = slices.Clone(q.Shards)
	for i := range q.Shards {
		if f.overdue {
			q.Shards[i].Claim = f.claims.real(q.Shards[i].Claim)
		}
	}
	return f.Shards.Overdue(ctx, q)
}

func (f *forger) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		if f.advance {
			items[i].Claim = f.claims.real(items[i].Claim)
		}
	}
	return f.Shards.Advance(ctx, now, items)
}

// hasty moves watermarks as far as the slack allows, or, if read is set, to the last row that was read.
type hasty struct {
	store.Shards

	mu   sync.Mutex
	read map[store.Claim]store.Key
}

func (h *hasty) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	answers, err := h.Shards.Due(ctx, q)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range answers {
		if n := len(answers[i].Rows); n > 0 && h.read != nil {
			h.read[q.Shards[i].Claim] = answers[i].Rows[n-1].Key()
		}
	}
	return answers, err
}

func (h *hasty) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	h.mu.Lock()
	items = slices.Clone(items)
	for i := range items {
		to := store.MaxKeyAt(now.Add(-2 * time.Second))
		if read, ok := h.read[items[i].Claim]; h.read != nil && (!ok || to.After(read)) {
			to = read
		}
		if to.After(items[i].Watermark) {
			items[i].Watermark = to
		}
	}
	h.mu.Unlock()
	return h.Shards.Advance(ctx, now, items)
}

// silent releases claims without P.
type silent struct{ store.Shards }

func (s *silent) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		items[i].Published = store.MinKey()
	}
	return s.Shards.Release(ctx, now, items)
}

// deafWrites treats every third write as one whose answer was lost.
type deafWrites struct {
	ingestservice.Store

	writes atomic.Int64
}

func (s *deafWrites) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	written, err := s.Store.Write(ctx, now, ops)
	if s.writes.Add(1)%3 == 0 {
		return nil, store.ErrOutcomeUnknown
	}
	return written, err
}

// deafPositions treats every third batch of commands as one whose answer was lost.
type deafPositions struct {
	store.Positions

	writes atomic.Int64
}

func (s *deafPositions) WriteAt(
	ctx context.Context, now timer.Millis, ops []store.Op, move store.Move,
) ([]store.Written, error) {
	written, err := s.Positions.WriteAt(ctx, now, ops, move)
	if s.writes.Add(1)%3 == 0 {
		return nil, store.ErrOutcomeUnknown
	}
	return written, err
}

// forgetful does not count every second start of the cluster.
type forgetful struct {
	dispatcher.Store

	counts *atomic.Int64
}

func (s *forgetful) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	checks = slices.Clone(checks)
	for i := range checks {
		if checks[i].CountStart && s.counts.Add(1)%2 == 0 {
			checks[i].CountStart = false
		}
	}
	return s.Store.Current(ctx, checks)
}

// forgetfulLeases does not count every second start that takes a lease.
type forgetfulLeases struct {
	dispatcher.Store

	counts *atomic.Int64
}

func (s *forgetfulLeases) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		if items[i].CountStart && s.counts.Add(1)%2 == 0 {
			items[i].CountStart = false
		}
	}
	return s.Store.Finish(ctx, now, items)
}

// quieting pauses before a quarantined timer's third and later starts. Its process begins no other delivery during the pause.
type quieting struct {
	dispatcher.Store

	turn chan struct{}
}

func (s *quieting) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, store.ErrUnavailable
	}
	rows, err := s.Store.Current(ctx, checks)
	if slices.ContainsFunc(rows, func(r store.Checked) bool { return r.Counted && r.Timer.Starts >= 2 }) {
		select {
		case <-time.After(4 * time.Second):
		case <-ctx.Done():
		}
	}
	return rows, err
}

// misread changes the timers that dispatchers read.
func misread(change func(*timer.Timer)) func() func(*sim.Configs) {
	return always(func(c *sim.Configs) { c.Dispatcher.Store = &misreader{c.Dispatcher.Store, change} })
}

type misreader struct {
	dispatcher.Store

	change func(*timer.Timer)
}

func (m *misreader) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	rows, err := m.Store.Current(ctx, checks)
	for i := range rows {
		m.change(&rows[i].Timer)
	}
	return rows, err
}

// impatient ignores Retry-After.
type impatient struct{ dispatcher.Caller }

func (c *impatient) Call(ctx context.Context, r dispatcher.Request) dispatcher.Answer {
	a := c.Caller.Call(ctx, r)
	a.RetryAfter = ""
	return a
}

// early counts the delay from the beginning of the attempt.
type early struct{ dispatcher.Store }

func (s *early) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		if f := &items[i]; f.Kind == store.FinishRetry {
			f.NextAt = f.NextAt.Add(-f.Record.FinishedAt.Sub(f.Record.StartedAt))
		}
	}
	return s.Store.Finish(ctx, now, items)
}

// tardy writes retries a little later than their results say, within the jitter.
type tardy struct{ dispatcher.Store }

func (s *tardy) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		if items[i].Kind == store.FinishRetry {
			items[i].NextAt += 5
		}
	}
	return s.Store.Finish(ctx, now, items)
}
