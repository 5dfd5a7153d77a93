// Package roletest makes the calls of each role on a store, for tests of the rights that the roles need.
//
// It owns the list of calls. It imports pkg/store and the domain, and never an engine.
package roletest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Roles are the roles of a cluster.
func Roles() []string { return []string{"ingest", "scheduler", "dispatcher"} }

const day = 24 * time.Hour

// Calls are the stores of a test. Owner has all rights, and prepares what the calls need; Store has those of a role.
type Calls struct {
	Owner, Store store.Store
	// Clock is the store's time.
	Clock timer.Millis

	// role and round make the ids of the timers different in each Run.
	role     string
	round    int
	failures []error
}

// Run makes all calls of a role, on new timers each time. It continues after a failure, and returns all of them.
func (c *Calls) Run(ctx context.Context, role string) error {
	c.round++
	c.role = role
	c.failures = nil
	c.all(ctx)
	switch role {
	case "ingest":
		c.ingest(ctx)
	case "scheduler":
		c.scheduler(ctx)
	case "dispatcher":
		c.dispatcher(ctx)
	default:
		c.keep(fmt.Errorf("role %q", role))
	}
	return errors.Join(c.failures...)
}

// keep collects an error of a call, and those of its items.
func (c *Calls) keep(err error, items ...error) {
	c.failures = append(c.failures, append(items, err)...)
}

func (c *Calls) written(written []store.Written, err error) {
	for i := range written {
		c.keep(written[i].Err)
	}
	c.keep(err)
}

// put returns a create. Its timer id is different in each round.
func (c *Calls) put(name string) store.Put {
	id := fmt.Sprint(c.role, "-", name, "-", c.round)
	return store.Put{
		Ref:       store.Ref{Shard: 3, UUID: timer.UUIDOf("default", id)},
		Namespace: "default", ID: id, Revision: timer.Revision(c.round)<<20 + 1,
		Spec: timer.Spec{
			ExecuteAt: c.Clock, CallbackURL: "http://127.0.0.1:9000/", CallbackTimeout: timer.DefaultCallbackTimeout,
			Retry: timer.DefaultRetryPolicy(), Payload: []byte(`{"n":1}`),
		},
	}
}

// prepared creates a timer as the owner, and finishes it if kind is not 0. Its history is in the default partition.
func (c *Calls) prepared(ctx context.Context, name string, kind store.FinishKind) store.Put {
	p := c.put(name)
	c.written(c.Owner.Write(ctx, c.Clock, []store.Op{p}))
	if kind != 0 {
		refused, err := c.Owner.Finish(ctx, c.Clock, []store.Finish{c.finish(p, kind)})
		c.keep(err, refused...)
	}
	return p
}

// finish returns an outcome whose history expires long after the present.
func (c *Calls) finish(p store.Put, kind store.FinishKind) store.Finish {
	return store.Finish{
		Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Kind: kind, If: store.Guard{Revision: p.Revision},
		Next: p.Revision + 1, NextAt: c.Clock + 1000,
		Record: store.Record{Attempt: 1, StartedAt: c.Clock, FinishedAt: c.Clock, StatusCode: 200, KeepFor: 300 * day},
	}
}

// unmark removes the outbox entries of a dead and of a parked timer.
func (c *Calls) unmark(ctx context.Context) {
	dead, parked := c.prepared(ctx, "unmark-dead", store.FinishDead), c.prepared(ctx, "unmark-parked", store.FinishParked)
	c.keep(c.Store.RemoveFromOutbox(ctx, []store.OutboxID{
		{Ref: dead.Ref, Status: timer.StatusDead, Generation: timer.Generation(dead.Revision), Attempt: 1},
		{Ref: parked.Ref, Status: timer.StatusParked, Generation: timer.Generation(parked.Revision), Revision: parked.Revision + 1},
	}))
}

func (c *Calls) all(ctx context.Context) {
	_, err := c.Store.Init(ctx, store.Identity{Partitions: 16, CreatedAt: c.Clock})
	c.keep(err)
	_, err = c.Store.ListNamespaces(ctx, "", 10)
	c.keep(err)
	if keys, ok := store.As[store.APIKeys](c.Store); ok {
		_, err = keys.ListAPIKeys(ctx)
		c.keep(err)
	}
	_, err = c.Store.Time(ctx)
	c.keep(err, c.Store.Ping(ctx))
}

func (c *Calls) ingest(ctx context.Context) {
	ns, err := c.Store.CreateNamespace(ctx, store.Namespace{
		Name: fmt.Sprint("ns-", c.round), Shards: shard.Block{Count: 4}, Settings: store.DefaultSettings(), CreatedAt: c.Clock,
	})
	c.keep(err)
	claimed, err := c.Owner.Claim(ctx, c.Clock, store.Owner{Incarnation: timer.UUID{1}}, []shard.ID{ns.Shards.Base})
	c.keep(err)
	if len(claimed) == 1 {
		c.keep(claimed[0].Err)
	}
	_, err = c.Store.Inspect(ctx, []shard.ID{ns.Shards.Base})
	c.keep(err)
	ns.Settings.DeletingSince = c.Clock
	ns, err = c.Store.UpdateNamespace(ctx, ns)
	c.keep(err)
	c.keep(c.Store.DeleteNamespace(ctx, ns))

	if keys, ok := store.As[store.APIKeys](c.Store); ok {
		key := store.APIKey{Name: fmt.Sprint("key-", c.round), Body: "{}"}
		c.keep(keys.PutAPIKey(ctx, key))
		key.Version = 1
		c.keep(keys.PutAPIKey(ctx, key), keys.DeleteAPIKey(ctx, key.Name))
	}
	c.flows(ctx, func(f store.Flow) {
		own, _ := store.As[store.Flows](c.Owner)
		c.keep(own.SwapFlow(ctx, 0, f))
	})

	p := c.put("written")
	c.written(c.Store.Write(ctx, c.Clock, []store.Op{p}))
	replacing := p
	replacing.Revision += 5
	c.written(c.Store.Write(ctx, c.Clock, []store.Op{replacing}))
	fresh := c.put("kept")
	fresh.OnConflict = store.Keep
	c.written(c.Store.Write(ctx, c.Clock, []store.Op{fresh}))
	remove := []store.Op{store.Delete{Ref: p.Ref}}
	if positions, ok := store.As[store.Positions](c.Store); ok {
		from, err := positions.Position(ctx, "commands", 0)
		c.keep(err)
		to := store.Position{Epoch: 1, Offset: int64(c.round) + 1}
		c.written(positions.WriteAt(ctx, c.Clock, remove, store.Move{Topic: "commands", From: from, To: to}))
	} else {
		c.written(c.Store.Write(ctx, c.Clock, remove))
	}

	done, dead := c.prepared(ctx, "done", store.FinishDone), c.prepared(ctx, "dead", store.FinishDead)
	_, err = c.Store.Get(ctx, c.Clock, done.Ref)
	c.keep(err)
	_, err = c.Store.History(ctx, c.Clock, done.Ref, 10)
	c.keep(err)
	refused, err := c.Store.Forget(ctx, c.Clock, []store.Forget{{Ref: done.Ref, Generation: timer.Generation(done.Revision)}})
	c.keep(err, refused...)
	c.written(c.Store.Rearm(ctx, c.Clock, []store.Rearm{{Ref: dead.Ref, Revision: dead.Revision + 7, ExecuteAt: c.Clock}}))
	for _, status := range []timer.Status{"", timer.StatusDone, timer.StatusDead} {
		_, err = c.Store.List(ctx, c.Clock, store.ListQuery{Namespace: ns, Status: status, Limit: 10})
		c.keep(err)
	}
	_, err = c.Store.List(ctx, c.Clock, store.ListQuery{Namespace: ns, InDueOrder: true, Limit: 10})
	c.keep(err)
	_, err = c.Store.CountLive(ctx, ns, 10)
	c.keep(err)
}

func (c *Calls) scheduler(ctx context.Context) {
	shards := []shard.ID{shard.ID(1000 + c.round)}
	owner := store.Owner{Incarnation: timer.UUIDOf("owner", fmt.Sprint(c.round)), Node: "me"}
	claimed, err := c.Store.Claim(ctx, c.Clock, owner, shards)
	if c.keep(err); err != nil {
		return
	}
	claim, key := claimed[0].Claim, store.MaxKeyAt(c.Clock)
	_, err = c.Store.Due(ctx, store.DueQuery{Shards: []store.DueAfter{{Claim: claim}}, Horizon: c.Clock, PerShard: 10, Total: 10})
	c.keep(err)
	_, err = c.Store.Overdue(ctx, store.OverdueQuery{Shards: []store.OverdueRange{{Claim: claim, Upto: key}}, Before: c.Clock, Limit: 10})
	c.keep(err)
	refused, err := c.Store.Advance(ctx, c.Clock, []store.Advance{{Claim: claim, Watermark: key}})
	c.keep(err, refused...)
	refused, err = c.Store.Release(ctx, c.Clock, []store.Release{{Claim: claim, Published: key}})
	c.keep(err, refused...)
	marked := []store.Put{c.prepared(ctx, "marked-dead", store.FinishDead), c.prepared(ctx, "marked-parked", store.FinishParked)}
	entries, err := c.Store.Outbox(ctx, []shard.ID{marked[0].Ref.Shard}, c.Clock+1, 100)
	c.keep(err)
	if err == nil && len(entries) < len(marked) {
		c.keep(fmt.Errorf("%d outbox entries, want %d at least", len(entries), len(marked)))
	}
	c.unmark(ctx)
	if census, ok := store.As[store.Census](c.Store); ok {
		_, err = census.Count(ctx, c.Clock)
		c.keep(err)
	}
}

func (c *Calls) dispatcher(ctx context.Context) {
	for _, kind := range []store.FinishKind{
		store.FinishDone, store.FinishRescheduled, store.FinishRetry, store.FinishLeased, store.FinishPostponed, store.FinishDead,
		store.FinishParked,
	} {
		p := c.prepared(ctx, fmt.Sprint("finish-", kind), 0)
		checked, err := c.Store.Current(ctx, []store.Check{{Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Revision: p.Revision, CountStart: true}})
		if c.keep(err); err == nil {
			c.keep(checked[0].Err)
		}
		f := c.finish(p, kind)
		if kind == store.FinishDone || kind == store.FinishRescheduled {
			follow := c.put("follow-up")
			follow.Ref.Shard = p.Ref.Shard
			f.FollowUp = &follow
		}
		refused, err := c.Store.Finish(ctx, c.Clock, []store.Finish{f})
		c.keep(err, refused...)
	}
	held := c.prepared(ctx, "held", 0)
	for _, op := range []store.Op{
		store.Pause{Ref: held.Ref, Revision: held.Revision + 1}, store.Delete{Ref: held.Ref},
	} {
		_, err := c.Store.Get(ctx, c.Clock, held.Ref)
		c.keep(err)
		c.written(c.Store.Write(ctx, c.Clock, []store.Op{op}))
	}
	simple := c.prepared(ctx, "simple", 0)
	refused, err := c.Store.Finish(ctx, c.Clock, []store.Finish{c.finish(simple, store.FinishDone)})
	c.keep(err, refused...)
	c.unmark(ctx)
	_, err = c.Store.Purge(ctx, c.Clock.Add(400*day), 100)
	c.keep(err)
	c.flows(ctx, func(f store.Flow) {
		flows, _ := store.As[store.Flows](c.Store)
		c.keep(flows.SwapFlow(ctx, 0, f))
		to := f
		to.Version++
		c.keep(flows.SwapFlow(ctx, f.Version, to))
		c.keep(flows.SwapFlow(ctx, to.Version, f))
	})
}

// flows makes the calls that ingest and dispatchers have in common on a flow that create has created.
func (c *Calls) flows(ctx context.Context, create func(store.Flow)) {
	flows, ok := store.As[store.Flows](c.Store)
	if !ok {
		return
	}
	f := store.Flow{FlowKey: store.FlowKey{Namespace: "default", Key: fmt.Sprint(c.role, c.round)}, Version: 1, State: "{}"}
	create(f)
	_, err := flows.GetFlow(ctx, f.FlowKey)
	c.keep(err)
	_, err = flows.ListFlows(ctx, f.Namespace, "", 10)
	c.keep(err)
	f.State = ""
	c.keep(flows.SwapFlow(ctx, f.Version, f))
}
