// Package restore prepares a store that was restored from a backup, before processes start on it: timers that were due
// before a cut-off were delivered already, and must not be delivered again.
//
// It may import pkg/store and what that imports. It starts no goroutine and publishes nothing.
package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Options select timers. All fields but Namespace and Progress are required.
type Options struct {
	Store store.Store
	// Cutoff is the time until which the lost state has delivered timers. It must not be in the future of the store's clock.
	Cutoff timer.Millis
	// Namespace limits the timers to one namespace.
	Namespace string
	// Apply makes the timers dead; otherwise they are only counted.
	Apply bool
	// Progress, if not nil, is called after each page with the counts so far.
	Progress func(Counts)
}

// Counts are the timers of a namespace that were due before the present.
type Counts struct {
	// Due is the number of timers that were due before the cut-off and are not parked. They are made dead.
	Due int
	// Dead is how many of them were made dead.
	Dead int
	// Changed is how many of them another process changed during the run, so that they were left alone.
	Changed int
	// Later is the number of timers that were due after the cut-off. They are delivered when processes start.
	Later int
	// Oldest and Newest are due times of timers that were due before the cut-off; 0 if there are none.
	Oldest, Newest timer.Millis
}

// Namespace is a namespace with its counts.
type Namespace struct {
	Name string
	Counts
}

// pageSize is the number of timers of one list and of one write.
const pageSize = 1000

// Run reads all timers that are due, and, if Apply is set, makes those dead that were due before the cut-off. If it fails,
// it can be run again: timers that are dead are not found again. No other process may use the store.
func Run(ctx context.Context, o *Options) ([]Namespace, error) {
	started, err := o.Store.Time(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the store's clock: %w", err)
	}
	if o.Cutoff > started.At {
		want := fmt.Sprintf("a time before the present, which is %v by the store's clock", started.At)
		return nil, timer.Invalid("cut-off", o.Cutoff, want)
	}
	namespaces, err := o.namespaces(ctx)
	if err != nil {
		return nil, err
	}
	var all []Namespace
	for i := range namespaces {
		counts, err := o.run(ctx, &namespaces[i], started.At)
		all = append(all, Namespace{namespaces[i].Name, counts})
		if err != nil {
			return all, fmt.Errorf("namespace %s: %w", namespaces[i].Name, err)
		}
	}
	return all, nil
}

func (o *Options) namespaces(ctx context.Context) (all []store.Namespace, err error) {
	if o.Namespace != "" {
		ns, err := o.Store.GetNamespace(ctx, o.Namespace)
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", o.Namespace, err)
		}
		return []store.Namespace{ns}, nil
	}
	for ns, err := range store.AllNamespaces(ctx, o.Store) {
		if err != nil {
			return nil, fmt.Errorf("list namespaces: %w", err)
		}
		all = append(all, ns)
	}
	return all, nil
}

func (o *Options) run(ctx context.Context, ns *store.Namespace, present timer.Millis) (counts Counts, err error) {
	query := store.ListQuery{Namespace: *ns, DueBefore: present, Limit: pageSize, WithoutPayloads: true}
	for {
		page, err := o.Store.List(ctx, present, query)
		if err != nil {
			return counts, fmt.Errorf("list timers: %w", err)
		}
		var due []timer.Timer
		for i := range page.Timers {
			t := &page.Timers[i]
			switch {
			case t.Status.Held(): // it is not delivered before a client retries or resumes it
			case t.Schedule != "": // its catchUp decides about the occurrences of the past
			case t.DueAt >= o.Cutoff:
				counts.Later++
			default:
				due = append(due, *t)
				counts.add(t.DueAt)
			}
		}
		if o.Apply {
			err = o.markDead(ctx, ns, due, &counts)
		}
		if o.Progress != nil {
			o.Progress(counts)
		}
		if query.After = page.Next; err != nil || len(page.Next) == 0 {
			return counts, err
		}
	}
}

func (c *Counts) add(at timer.Millis) {
	if c.Due == 0 || at < c.Oldest {
		c.Oldest = at
	}
	c.Newest = max(c.Newest, at)
	c.Due++
}

// markDead makes timers dead. A compare-and-set on the revision leaves those alone that were changed since they were listed.
func (o *Options) markDead(ctx context.Context, ns *store.Namespace, due []timer.Timer, counts *Counts) error {
	clock, err := o.Store.Time(ctx)
	if err != nil {
		return fmt.Errorf("read the store's clock: %w", err)
	}
	items := make([]store.Finish, len(due))
	for i := range due {
		t := &due[i]
		items[i] = store.Finish{
			Ref: store.Ref{Shard: ns.Shards.Place(t.ID), UUID: t.UUID}, DueAt: t.DueAt, Kind: store.FinishDead,
			If: store.Guard{Revision: t.Revision},
			Record: store.Record{
				Attempt: t.Attempts + 1, StartedAt: clock.At, FinishedAt: clock.At, KeepFor: ns.Settings.DeadRetention,
				Error: fmt.Sprintf("skipped by a restore: due at %v, before the cut-off %v", t.DueAt, o.Cutoff),
			},
		}
	}
	errs, err := o.Store.Finish(ctx, clock.At, items)
	if err != nil {
		return fmt.Errorf("make timers dead: %w", err)
	}
	var failed error
	for _, err := range errs {
		switch {
		case err == nil:
			counts.Dead++
		case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
			counts.Changed++
		case failed == nil:
			failed = fmt.Errorf("make timers dead: %w", err)
		}
	}
	return failed
}
