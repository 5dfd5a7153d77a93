package sim

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Claim records where the owner begins.
func (s *witness) Claim(
	ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID,
) ([]store.Claimed, error) {
	claimed, err := s.Store.Claim(ctx, now, owner, shards)
	f := s.fence()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range claimed {
		o := &ownership{
			begin: c.Watermark, resume: c.Watermark, claimed: s.life.node.world.since(), sent: store.MinKey(), published: map[dueState]bool{},
		}
		if c.Published.After(o.begin) {
			o.begin = c.Published
		}
		o.read = o.begin
		f.owners[c.Claim] = o
	}
	return claimed, err
}

// reads records an answer that the owner gets. An answer that comes too late for the owner does not count.
func (f *fence) reads(asked *store.DueAfter, rows []store.DueRow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.owners[asked.Claim]; o != nil { // otherwise a mutant has invented the claim
		o.reads(asked.After, rows)
	}
}

// reads records the answer to a poll. R goes back to W when a handover barrier falls, before the shard can be idle.
// Polls of an idle shard begin at its sweep floor, and the sweep handles its rows up to R; other polls begin at R.
func (o *ownership) reads(after store.Key, rows []store.DueRow) {
	if after == o.resume && !o.resumed {
		o.read, o.resumed = after, true
	}
	for i := range rows {
		if key := rows[i].Key(); key.After(o.read) {
			o.rows = append(o.rows, rows[i])
			o.read = key
		}
	}
}

// Current records the states that a dispatcher did not find.
func (s *witness) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	rows, err := s.Store.Current(ctx, checks)
	f := s.fence()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range rows {
		if rows[i].Err == nil && !rows[i].Found {
			f.absent[dueState{checks[i].Ref.UUID, checks[i].Revision}] = true
		}
	}
	return rows, err
}

// Advance checks the watermarks that are stored.
func (s *witness) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	answers, err := s.Store.Advance(ctx, now, items)
	f := s.fence()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range answers {
		if answers[i] == nil {
			f.checkSlack(&items[i], now)
			f.checkRange(&items[i])
			f.checkPrefix(ctx, s.Store, &items[i])
		}
	}
	return answers, err
}

// checkSlack implements I6: the watermark never passes the present minus the slack.
func (f *fence) checkSlack(a *store.Advance, now timer.Millis) {
	if limit := now.Add(-slack); a.Watermark.DueAt > limit {
		f.oracle.violate("slack", "shard %d: the watermark moves to %v, %v after the current time minus the slack",
			a.Claim.Shard, a.Watermark.DueAt, a.Watermark.DueAt.Sub(limit))
	}
}

// checkRange implements I6: the watermark covers only keys up to R.
func (f *fence) checkRange(a *store.Advance) {
	if o := f.owners[a.Claim]; a.Watermark.After(o.read) {
		f.oracle.violate("range", "shard %d: the watermark moves to %v, and its owner (version %d) has read up to %v",
			a.Claim.Shard, a.Watermark, a.Claim.Version, o.read)
	}
}

// checkPrefix implements I6: the watermark covers only keys that the bus has acknowledged; with queues in memory, only keys of events
// that dispatchers have acknowledged, so that no row is in the same state any more. Rows that have changed since
// they were read do not count: a poll whose answer was dropped may have read them. Nor do rows that were committed after a dispatcher had
// looked for them and acknowledged their event: the sweep publishes them again (I12).
func (f *fence) checkPrefix(ctx context.Context, rows store.Store, a *store.Advance) {
	o := f.owners[a.Claim]
	var passed []store.DueRow
	o.rows = slices.DeleteFunc(o.rows, func(r store.DueRow) bool {
		if r.Key().After(a.Watermark) {
			return false
		}
		passed = append(passed, r)
		return true
	})
	for _, r := range passed {
		state := dueState{r.Ref.UUID, r.Revision}
		if !f.local && o.published[state] || f.local && f.absent[state] {
			continue
		}
		row, err := rows.Current(ctx, []store.Check{{Ref: r.Ref, DueAt: r.DueAt, Revision: r.Revision}})
		if err == nil && row[0].Matches(r.Revision) && !row[0].Timer.Status.Held() {
			f.oracle.violate("prefix", "shard %d: the watermark passes %s (revision %s, due %v), which version %d has read and not published, or whose event is lost with the process",
				a.Claim.Shard, row[0].Timer.ID, r.Revision, r.DueAt, a.Claim.Version)
		}
	}
}

// Release checks P: it must be the largest key that the owner has published, or none if its queue is in memory.
func (s *witness) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	answers, err := s.Store.Release(ctx, now, items)
	f := s.fence()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range answers {
		o := f.owners[items[i].Claim]
		if answers[i] != nil {
			continue
		}
		want := o.sent
		if f.local {
			want = store.MinKey()
		}
		if items[i].Published != want {
			f.oracle.violate("released", "shard %d: version %d releases it with P = %v, want %v",
				items[i].Claim.Shard, items[i].Claim.Version, items[i].Published, want)
		}
	}
	return answers, err
}

func (s *witness) fence() *fence { return s.life.node.world.fence }
