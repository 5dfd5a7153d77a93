package scheduler_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// dies creates a timer and records it in history as dead and marked, like a dispatcher that crashes before it
// publishes.
func (w *world) dies(id, payload string) {
	w.t.Helper()
	w.diesIn("n", id, payload)
}

func (w *world) diesIn(namespace, id, payload string) {
	w.t.Helper()
	ns, err := w.directory.Lookup(w.t.Context(), namespace)
	if err != nil {
		w.t.Fatal(err)
	}
	t := w.put(namespace, id, time.Hour, false)
	ref := store.Ref{Shard: ns.Shards.Place(id), UUID: t.UUID}
	body := []byte(payload)
	out, err := w.store.Write(w.t.Context(), timer.SystemClock(), []store.Op{store.Update{
		Ref: ref, Revision: w.revisions.Next(), Patch: timer.Patch{Payload: &body},
	}})
	if err != nil || out[0].Err != nil {
		w.t.Fatal(err, out)
	}
	errs, err := w.store.Finish(w.t.Context(), timer.SystemClock(), []store.Finish{{
		Ref: ref, DueAt: t.DueAt, Kind: store.FinishDead, If: store.Guard{Generation: out[0].Timer.Generation},
		Record: store.Record{Attempt: 1, StatusCode: 410, Error: "gone", FinishedAt: timer.SystemClock(), KeepFor: time.Hour},
	}})
	if err != nil || errs[0] != nil {
		w.t.Fatal(err, errs)
	}
}

// oneShard returns n ids that belong to one shard, and so to one partition.
func (w *world) oneShard(prefix string, n int) (ids []string) {
	for i := 0; len(ids) < n; i++ {
		if id := fmt.Sprint(prefix, i); w.shardOf(id) == w.shardOf("x") {
			ids = append(ids, id)
		}
	}
	return ids
}

// marked lists the unpublished timers.
func (w *world) marked() (ids []string) {
	w.t.Helper()
	ns, _ := w.directory.Lookup(w.t.Context(), "n")
	left, err := w.store.Outbox(w.t.Context(), ns.Shards.In(0, 1), timer.Never, 10_000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range left {
		ids = append(ids, n.Timer.ID)
	}
	slices.Sort(ids)
	return ids
}

// refusing makes the bus refuse dead events that contain a text.
func (w *world) refusing(text string, err error, on *atomic.Bool) {
	w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, messages []bus.Message) (f membus.PublishFault) {
		bad := func(m bus.Message) bool { return strings.Contains(string(m.Body), text) }
		if on.Load() && topic == bus.Dead && slices.ContainsFunc(messages, bad) {
			f.Err = err
		}
		return f
	}})
}

func TestI14_AnEntryThatTheBusRefusesBlocksNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		refused string // in the event
		err     error
		bad     int
		gone    bool // refused entries are published without their payload, or dropped
		told    int  // number of events of the first refused entry
	}{
		"too large":                 {`"large"`, bus.ErrTooLarge, 1, true, 1},
		"too large without payload": {`n/bad`, bus.ErrTooLarge, 1, true, 0},
		"refused":                   {`n/bad`, bus.ErrUnavailable, 1, false, 0},
		"unknown outcome":           {`n/bad`, bus.ErrOutcomeUnknown, 1, false, 0},
		"more than a page refused":  {`n/bad`, bus.ErrUnavailable, 150, false, 0},
		"a page too large":          {`n/bad`, bus.ErrTooLarge, 250, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				bad, good := w.oneShard("bad", c.bad), w.oneShard("good", 5)
				for _, id := range bad {
					w.dies(id, `"large"`)
				}
				w.pass(time.Second)
				for _, id := range good {
					w.dies(id, `"small"`)
				}
				dead := w.listen(bus.Dead)
				var on atomic.Bool
				on.Store(true)
				w.refusing(c.refused, c.err, &on)
				n := w.start("a")
				w.pass(time.Minute)
				told := map[string]int{}
				for _, m := range dead.got {
					e, err := event.Decode(m.Headers, m.Body)
					if err != nil {
						t.Fatal(err)
					}
					told[strings.TrimPrefix(e.Subject, "n/")]++
				}
				for _, id := range good {
					if told[id] != 1 {
						t.Errorf("%s was published %d times in a minute, want once", id, told[id])
					}
				}
				if told[bad[0]] != c.told {
					t.Errorf("what the bus refuses was published %d times, want %d", told[bad[0]], c.told)
				}
				left := w.marked()
				if c.gone && len(left) != 0 || !c.gone && len(left) != c.bad {
					t.Errorf("%d are marked", len(left))
				}
				on.Store(false)
				w.pass(time.Minute)
				if left = w.marked(); len(left) != 0 {
					t.Errorf("once the bus takes all, %d are marked", len(left))
				}
				n.end()
			})
		})
	}
}

// oldest is a store that returns the oldest outbox entries of all shards.
type oldest struct{ store.Shards }

func (o oldest) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	all, err := o.Shards.Outbox(ctx, shards, before, 10_000)
	slices.SortStableFunc(all, func(a, b store.OutboxEntry) int { return cmp.Compare(a.MarkedAt, b.MarkedAt) })
	return all[:min(limit, len(all))], err
}

// TestI14_AShardWhoseEntriesTheBusRefusesDelaysNoOther: the store may fill its page with the entries of one shard.
func TestI14_AShardWhoseEntriesTheBusRefusesDelaysNoOther(t *testing.T) {
	const bad, good = 450, 5 // more refused entries than a page can have
	for name, c := range map[string]func(*scheduler.Config){
		"in the order of the query": func(*scheduler.Config) {},
		"oldest first":              func(c *scheduler.Config) { c.Store = oldest{c.Store} },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.namespace("m")
				// The ids have the same place in both blocks, so their shards belong to one partition.
				for _, id := range w.oneShard("bad", bad) {
					w.diesIn("n", id, `"x"`)
				}
				w.pass(time.Second)
				for _, id := range w.oneShard("good", good) {
					w.diesIn("m", id, `"x"`)
				}
				dead := w.listen(bus.Dead)
				var on atomic.Bool
				on.Store(true)
				w.refusing("n/bad", bus.ErrUnavailable, &on)
				n := w.start("a", c)
				w.pass(time.Minute)
				if len(dead.got) != good {
					t.Errorf("%d events were published, want those of %d timers in the other shard", len(dead.got), good)
				}
				n.end()
			})
		})
	}
}

// hanging is a bus that does not answer a Publish of certain messages.
type hanging struct {
	bus.Bus
	on func(bus.Message) bool
}

func (h *hanging) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if topic == bus.Dead && slices.ContainsFunc(messages, h.on) {
		<-ctx.Done()
		return nil, fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, ctx.Err())
	}
	return h.Bus.Publish(ctx, topic, messages...)
}

// TestI14_AnEntryOnWhichTheBusHangsBlocksNoOther: the bus does not refuse the entry, so every publish with it takes its
// whole timeout.
func TestI14_AnEntryOnWhichTheBusHangsBlocksNoOther(t *testing.T) {
	for name, bad := range map[string][]string{"one": {"3"}, "three": {"1", "3", "5"}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				entries := w.oneShard("entry", 6)
				badIDs := make([]string, len(bad))
				for i, at := range bad {
					badIDs[i] = entries[at[0]-'0']
				}
				for _, id := range entries {
					w.dies(id, `"x"`)
					w.pass(time.Second)
				}
				n := w.start("a", func(c *scheduler.Config) {
					c.Bus = &hanging{Bus: c.Bus, on: func(m bus.Message) bool {
						return slices.ContainsFunc(badIDs, func(id string) bool { return m.Key == "n/"+id })
					}}
				})
				w.pass(2 * time.Minute)
				if left := w.marked(); !slices.Equal(left, slices.Sorted(slices.Values(badIDs))) {
					t.Errorf("%q are marked after two minutes, want %q", left, badIDs)
				}
				n.end()
			})
		})
	}
}

// picky is a bus that refuses dead events that contain a text, with an error for each of them, and accepts all others.
type picky struct {
	bus.Bus

	text  string
	taken atomic.Int64
}

func (p *picky) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if topic != bus.Dead {
		return p.Bus.Publish(ctx, topic, messages...)
	}
	partial := &bus.PartialError{Errs: make([]error, len(messages))}
	refused := 0
	for i, m := range messages {
		if strings.Contains(string(m.Body), p.text) {
			partial.Errs[i] = bus.ErrUnavailable
			refused++
		}
	}
	p.taken.Add(int64(len(messages) - refused))
	if refused > 0 {
		return nil, fmt.Errorf("publish: %w", partial)
	}
	return make([]bus.Position, len(messages)), nil
}

// TestI14_WhatTheBusTookOfABatchIsNotPublishedAgain: a Watermill Pub/Sub may accept only some messages of a batch.
func TestI14_WhatTheBusTookOfABatchIsNotPublishedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		ids := w.oneShard("a", 6)
		for _, id := range ids {
			w.dies(id, "1")
		}
		p := &picky{text: "n/" + ids[2]}
		n := w.start("a", func(c *scheduler.Config) { p.Bus, c.Bus = c.Bus, p })
		w.pass(time.Minute)
		if taken := p.taken.Load(); taken != 5 {
			t.Errorf("the bus accepted %d events of 5 timers", taken)
		}
		if left := w.marked(); !slices.Equal(left, ids[2:3]) {
			t.Errorf("%q are marked, want %q", left, ids[2:3])
		}
		n.end()
	})
}
