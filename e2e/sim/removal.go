package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// removals has the lives of removedNamespace. It is guarded by oracle.mu.
type removals struct {
	world *World
	lives []spaceLife
}

// spaceLife is the time from the creation of a namespace to its removal.
type spaceLife struct {
	block shard.Block
	// from is when the creation was sent, made when it was answered.
	from, made time.Duration
	// marked is when the first step of the deletion was answered, gone when the removal was answered; never before that.
	marked, gone time.Duration
}

const never = time.Duration(math.MaxInt64)

const (
	// staleFor is how long after a change of a namespace an ingest may use the earlier state, without faults: half a hint
	// window, and the time of the read.
	staleFor = 35 * time.Second
	// beginsWithin is the longest time between the row check of a delivery and its beginning.
	beginsWithin = time.Second
	// deletionLimit bounds a deletion: its minute of waiting, the publication of dead events, and faults.
	deletionLimit = 4 * time.Minute
)

func newRemovals(w *World) *removals { return &removals{world: w} }

// begin records a namespace that exists since the beginning.
func (r *removals) begin(block shard.Block) {
	r.lives = append(r.lives, spaceLife{block: block, marked: never, gone: never})
}

// removeNamespace deletes the namespace step by step, each on another ingest.
func (w *World) removeNamespace(ctx context.Context, o *Op) {
	began, unsure := w.since(), false
	for n := o.Node; ctx.Err() == nil; n++ {
		if w.since()-began > deletionLimit {
			w.oracle.violate("stuck", "the deletion that began at %v has not ended", began)
			return
		}
		l := w.nodes[n%ingests].serving()
		if l == nil {
			sleep(ctx, 200*time.Millisecond)
			continue
		}
		rec := w.admin(ctx, l, "namespaces/delete", fmt.Sprintf(`{"name":%q}`, removedNamespace))
		w.note("op %d  deletion of %s answered %d %s", o.ID, removedNamespace, rec.Code, rec.Body)
		var step struct {
			Deleted    bool   `json:"deleted"`
			RetryAfter string `json:"retryAfter"`
		}
		switch {
		case !l.alive(), rec.Code == http.StatusServiceUnavailable, rec.Code == http.StatusGatewayTimeout:
			unsure = true
			sleep(ctx, 200*time.Millisecond)
			continue
		case rec.Code == http.StatusNotFound && unsure: // the removal had been applied, and its answer lost
			step.Deleted = true
		case rec.Code == http.StatusOK:
			must(json.Unmarshal(rec.Body.Bytes(), &step))
		default:
			w.oracle.violate("answer", "deletion: status %d: %s", rec.Code, rec.Body)
			return
		}
		if w.removals.step(step.Deleted) {
			return
		}
		if step.RetryAfter != "" {
			wait, err := timer.ParseDuration(step.RetryAfter)
			must(err)
			sleep(ctx, wait)
		}
	}
}

// admin sends a request about a namespace.
func (w *World) admin(ctx context.Context, l *life, path, body string) *httptest.ResponseRecorder {
	call, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	return w.post(call, l, path, body)
}

// step records an answered step of the deletion and returns deleted.
func (r *removals) step(deleted bool) bool {
	r.world.oracle.mu.Lock()
	defer r.world.oracle.mu.Unlock()
	last := &r.lives[len(r.lives)-1]
	last.marked = min(last.marked, r.world.since())
	if deleted {
		last.gone = r.world.since()
	}
	return deleted
}

// remakeNamespace creates the deleted namespace again, and changes its settings, so that its version is that of the
// deleted one.
func (w *World) remakeNamespace(ctx context.Context, o *Op) {
	from := w.since()
	w.oracle.mu.Lock()
	w.removals.lives = append(w.removals.lives, spaceLife{from: from, made: never, marked: never, gone: never})
	w.oracle.mu.Unlock()
	made := false
	for n := o.Node; ctx.Err() == nil; n++ {
		if l := w.nodes[n%ingests].serving(); l != nil {
			path, body := "namespaces/create", fmt.Sprintf(`{"name":%q,"numShards":%d,"settings":{"finalStatuses":[%d]}}`,
				removedNamespace, partitions, finalStatus)
			if made {
				path, body = "namespaces/update", fmt.Sprintf(`{"name":%q,"settings":{"historyRetention":"23h"}}`, removedNamespace)
			}
			rec := w.admin(ctx, l, path, body)
			w.note("op %d  %s of %s answered %d", o.ID, path, removedNamespace, rec.Code)
			switch {
			case rec.Code == http.StatusOK && l.alive():
				if made {
					return
				}
				made = true
				w.removals.remade(ctx)
				continue
			case !l.alive(), rec.Code == http.StatusServiceUnavailable, rec.Code == http.StatusGatewayTimeout:
			default:
				w.oracle.violate("removed", "%s, after its deletion: status %d: %s", path, rec.Code, rec.Body)
				return
			}
		}
		sleep(ctx, 200*time.Millisecond)
	}
}

// remade records that the namespace exists again.
func (r *removals) remade(ctx context.Context) {
	ns, err := r.world.db.Open().GetNamespace(ctx, removedNamespace)
	if err != nil {
		r.world.oracle.violate("removed", "the namespace that was created again does not exist: %v", err)
		return
	}
	o := r.world.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	last := &r.lives[len(r.lives)-1]
	last.block, last.made = ns.Shards, r.world.since()
	for _, other := range r.lives[:len(r.lives)-1] {
		if ns.Shards.Contains(other.block.Base) || other.block.Contains(ns.Shards.Base) {
			o.broken("shards", "the new namespace has the shards %v, and the removed one had %v", ns.Shards, other.block)
		}
	}
}

// mayBeIn reports whether the operation may have been applied in a life of the namespace.
func (s *opState) mayBeIn(l *spaceLife) bool {
	return s.sent <= l.gone && (!s.known || s.answer.unknown || s.at >= l.from)
}

// checkAccepted: an operation is applied only in a namespace that exists, and by the documented time after its mark no more
// creates are.
func (o *oracle) checkAccepted(s *opState) {
	if !s.answer.applied() {
		return
	}
	var last *spaceLife
	for i := range o.world.removals.lives {
		if l := &o.world.removals.lives[i]; s.mayBeIn(l) {
			last = l
		}
	}
	if last == nil {
		o.broken("removed", "op %d, sent at %v, was answered %d after the namespace had been removed", s.op.ID, s.sent, s.answer.status)
		return
	}
	if last.marked != never && s.op.Verb != Delete && s.sent > last.marked+staleFor && !o.ingestStruck(s.sent-2*staleFor) {
		o.broken("removed", "op %d, sent at %v, was answered %d, and the deletion of its namespace had begun at %v",
			s.op.ID, s.sent, s.answer.status, last.marked)
	}
}

// ingestStruck reports whether a fault of an ingest was in effect since a time.
func (o *oracle) ingestStruck(since time.Duration) bool {
	return o.world.recording.anyStrike(since, o.world.since(), func(s strike) bool { return s.role == roleIngest })
}

// checkRemoved: no delivery of a removed namespace begins.
func (o *oracle) checkRemoved(s *opState) {
	if !s.op.Removed {
		return
	}
	gone := time.Duration(0)
	for i := range o.world.removals.lives {
		if l := &o.world.removals.lives[i]; s.mayBeIn(l) {
			gone = max(gone, l.gone)
		}
	}
	if gone != never && o.world.since() > gone+beginsWithin {
		o.broken("removed", "op %d was delivered although its namespace had been removed at %v", s.op.ID, gone)
	}
}

// account compares the timers of the namespace, and of the removed ones, with the answers.
func (r *removals) account(ctx context.Context, handle store.Store) {
	last := &r.lives[len(r.lives)-1]
	for i := range r.lives {
		l := &r.lives[i]
		if l.gone != never {
			r.checkEmpty(ctx, handle, l)
		}
	}
	ns, err := handle.GetNamespace(ctx, removedNamespace)
	o := r.world.oracle
	switch {
	case last.gone == never && err != nil:
		o.violate("removed", "the namespace was not deleted since %v, and does not exist: %v", last.made, err)
		return
	case last.gone == never && ns.Settings.DeletingSince != 0 && last.marked == never:
		o.violate("removed", "the namespace is marked, and its deletion has not begun since %v", last.made)
	case last.gone != never && err == nil:
		o.violate("removed", "the namespace exists, and its removal was answered at %v", last.gone)
		return
	case last.gone != never:
		return
	}
	for _, status := range []timer.Status{"", timer.StatusDead, timer.StatusDone} {
		page, err := handle.List(ctx, timer.SystemClock(), store.ListQuery{Namespace: ns, Status: status, Limit: 1000})
		must(err)
		for i := range page.Timers {
			t := &page.Timers[i]
			o.mu.Lock()
			if s := o.creatorOf(t); s != nil && !s.mayBeIn(last) {
				o.broken("removed", "%s of op %d, sent at %v, is in the namespace that was created again at %v", t.ID, s.op.ID, s.sent, last.from)
			}
			o.mu.Unlock()
		}
	}
}

// creatorOf returns the operation that wrote a timer, by its payload, or, if history has none, by its deliveries.
func (o *oracle) creatorOf(t *timer.Timer) *opState {
	if id, err := opOf(t.Payload); err == nil {
		return o.find(id)
	}
	at := slices.IndexFunc(o.ops, func(s *opState) bool { return slices.Contains(s.lives, t.Generation.String()) })
	if at < 0 {
		return nil
	}
	return o.ops[at]
}

// last returns the shards of the last namespace, and whether a deletion may have removed history.
func (r *removals) last() (block shard.Block, deleted bool) {
	n := len(r.lives)
	return r.lives[n-1].block, n > 1 || r.lives[0].marked != never
}

// checkEmpty: a removed namespace has no timers, and its shards have no claims.
func (r *removals) checkEmpty(ctx context.Context, handle store.Store, l *spaceLife) {
	ns := store.Namespace{Name: removedNamespace, Shards: l.block}
	for _, status := range []timer.Status{"", timer.StatusDead, timer.StatusDone} {
		page, err := handle.List(ctx, timer.SystemClock(), store.ListQuery{Namespace: ns, Status: status, Limit: 1000})
		must(err)
		for i := range page.Timers {
			r.world.oracle.violate("removed", "%s with status %q and payload %s is in the namespace that was removed at %v",
				page.Timers[i].ID, status, page.Timers[i].Payload, l.gone)
		}
	}
	states, err := handle.Inspect(ctx, l.block.In(0, 1))
	must(err)
	if at := slices.IndexFunc(states, func(s store.ShardState) bool { return s.Version != 0 }); at >= 0 {
		r.world.oracle.violate("removed", "shard %s of the removed namespace is claimed: %+v", states[at].Shard, states[at])
	}
}

// outlived reports whether the final operation on a timer was applied in a namespace that may have been removed since.
func (r *removals) outlived(s *opState) bool {
	if !s.op.Removed {
		return false
	}
	last := &r.lives[len(r.lives)-1]
	return last.gone != never || len(r.lives) > 1 && s.sent < last.made
}
