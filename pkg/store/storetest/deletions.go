package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func namespaceDelete(w *world) {
	other := w.namespace("other", 2)
	gone := w.namespace("gone", 2)
	w.wantErr(w.store.DeleteNamespace(w.ctx, store.Namespace{Name: "nobody", Version: 1}), store.ErrNotFound, "delete an unknown namespace")
	w.check(w.store.DeleteNamespace(w.ctx, gone), "delete")
	_, err := w.store.GetNamespace(w.ctx, gone.Name)
	w.wantErr(err, store.ErrNotFound, "get a deleted namespace")
	_, err = w.store.UpdateNamespace(w.ctx, gone)
	w.wantErr(err, store.ErrNotFound, "update a deleted namespace")
	w.wantErr(w.store.DeleteNamespace(w.ctx, gone), store.ErrNotFound, "delete it again")
	all, err := w.allNamespaces()
	w.check(err, "list")
	w.equal("list", all, []store.Namespace{w.ns, other})
}

func namespaceDeleteVersion(w *world) {
	ns := w.namespace("a", 2)
	updated, err := w.store.UpdateNamespace(w.ctx, ns)
	w.check(err, "update")
	claim := w.claim(ns.Shards.Base)[0].Claim
	for _, version := range []int64{0, ns.Version, updated.Version + 1} {
		other := updated
		other.Version = version
		w.wantErr(w.store.DeleteNamespace(w.ctx, other), store.ErrConflict, "delete version %d", version)
	}
	got, err := w.store.GetNamespace(w.ctx, ns.Name)
	w.check(err, "get")
	w.equal("namespace", got, updated)
	w.wantAdmitted("a refused delete", claim)
	w.check(w.store.DeleteNamespace(w.ctx, updated), "delete the present version")
}

func namespaceDeletedBlocks(w *world) {
	all := []store.Namespace{w.ns}
	var early store.Namespace
	// The last block, one before it, and the last one again.
	for i := range 4 {
		kept, last := w.namespace(fmt.Sprint("kept", i), 1+i), w.namespace("again", 3)
		if i == 1 {
			early = kept
		}
		if last.Version != 1 {
			w.t.Errorf("round %d: a namespace that is created again has version %d, want 1", i, last.Version)
		}
		// A deleted namespace keeps its block, so its name is changed for the comparison.
		w.check(w.store.DeleteNamespace(w.ctx, last), "delete")
		last.Name = fmt.Sprint("deleted", i)
		all = append(all, kept, last)
		if i == 2 {
			w.check(w.store.DeleteNamespace(w.ctx, early), "delete an earlier block")
		}
	}
	w.wantDisjoint(append(all, w.namespace("kept1", 2)))
}

func namespaceDeletedClaims(w *world) {
	other, ns := w.namespace("other", 2), w.namespace("gone", 3)
	next := w.namespace("next", 2)
	neighbours := append(w.claim(other.Shards.In(0, 1)...), w.claim(next.Shards.In(0, 1)...)...)
	claims := w.claim(ns.Shards.In(0, 1)...)
	w.now += minute
	w.check(w.advance(claims[0].Claim, store.MaxKeyAt(w.now-second)), "advance")
	w.check(w.store.DeleteNamespace(w.ctx, ns), "delete")
	for _, c := range claims {
		w.wantFenced("a deleted namespace", c.Claim)
	}
	for i, state := range w.inspect(ns.Shards.In(0, 1)...) {
		w.equal("state of a shard", state, store.ShardState{
			Shard: ns.Shards.In(0, 1)[i], Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never,
		})
	}
	for _, c := range neighbours {
		w.wantAdmitted("the deletion of another namespace", c.Claim)
	}
}

// namespaceDeletedAndCreatedAgain: a write for the deleted namespace that the database applies late does not change the new
// one, although both have the same version.
func namespaceDeletedAndCreatedAgain(w *world) {
	gone := w.namespace("again", 2)
	w.check(w.store.DeleteNamespace(w.ctx, gone), "delete")
	again := w.namespace("again", 2)
	w.equal("version of the new namespace", again.Version, gone.Version)
	claim := w.claim(again.Shards.Base)[0].Claim
	gone.Settings.DeletingSince = w.now
	present, err := w.store.UpdateNamespace(w.ctx, gone)
	w.wantErr(err, store.ErrConflict, "update the deleted namespace")
	w.equal("namespace of the conflict", present, again)
	w.wantErr(w.store.DeleteNamespace(w.ctx, gone), store.ErrConflict, "delete the deleted namespace")
	present, err = w.store.GetNamespace(w.ctx, again.Name)
	w.check(err, "get")
	w.equal("new namespace", present, again)
	w.wantAdmitted("a late deletion", claim)
}
