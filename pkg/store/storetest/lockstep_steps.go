package storetest

import (
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Each step makes the same call to both sides. It logs the request before it compares the answers.

func (l *lockstep) write() {
	ops := l.anyOps()
	l.asked(ops)
	got, err := l.engine().Write(l.ctx, l.now, ops)
	want, wantErr := l.reference.Write(l.ctx, l.now, ops)
	l.same("write: error", kindOf(err), kindOf(wantErr))
	l.same("write", comparableWrites(got), comparableWrites(want))
}

func (l *lockstep) writeAt() {
	ours, ok := store.As[store.Positions](l.engine())
	theirs, both := store.As[store.Positions](l.reference)
	if !ok || !both {
		return
	}
	move := store.Move{Topic: topic, Partition: l.random.IntN(2)}
	var err error
	move.From, err = theirs.Position(l.ctx, topic, move.Partition)
	l.check(err, "position of the reference")
	got, err := ours.Position(l.ctx, topic, move.Partition)
	l.check(err, "position")
	l.same("position", got, move.From)
	move.To = store.Position{Epoch: move.From.Epoch, Offset: move.From.Offset + 1 + l.random.Int64N(9)}
	if l.chance(10) {
		move.To = store.Position{Epoch: move.From.Epoch + 1}
	}
	if l.chance(25) {
		move.From.Offset += pick[int64](l, 1, -1)
	}
	ops := l.anyOps()
	if l.chance(10) {
		ops = nil
	}
	l.asked(move, ops)
	out, err := ours.WriteAt(l.ctx, l.now, ops, move)
	want, wantErr := theirs.WriteAt(l.ctx, l.now, ops, move)
	l.same("write at: error", kindOf(err), kindOf(wantErr))
	l.same("write at", comparableWrites(out), comparableWrites(want))
}

func (l *lockstep) finishSome() {
	items := make([]store.Finish, 1+l.random.IntN(3))
	for i := range items {
		items[i] = l.anyFinish()
	}
	l.asked(items)
	got, err := l.engine().Finish(l.ctx, l.now, items)
	want, wantErr := l.reference.Finish(l.ctx, l.now, items)
	l.same("finish: error", kindOf(err), kindOf(wantErr))
	l.same("finish", kindsOf(got), kindsOf(want))
}

func (l *lockstep) currentSome() {
	var checks []store.Check
	seen := map[timer.UUID]bool{}
	for range 1 + l.random.IntN(4) {
		_, _, ref := l.anyTimer()
		if seen[ref.UUID] {
			continue
		}
		seen[ref.UUID] = true
		row, _ := l.referenceRow(ref)
		check := store.Check{Ref: ref, DueAt: row.DueAt, Revision: row.Revision, CountStart: l.chance(50)}
		if l.chance(25) {
			check.Revision, check.DueAt = l.earlierRevision(ref), l.anyTime()
		}
		checks = append(checks, check)
	}
	l.compareChecks(checks)
}

func (l *lockstep) compareChecks(checks []store.Check) {
	l.asked(checks)
	got, err := l.engine().Current(l.ctx, checks)
	want, wantErr := l.reference.Current(l.ctx, checks)
	l.same("current: error", kindOf(err), kindOf(wantErr))
	l.same("current", got, want)
}

func (l *lockstep) rearmSome() {
	items := make([]store.Rearm, 1+l.random.IntN(2))
	for i := range items {
		_, _, ref := l.anyTimer()
		items[i] = store.Rearm{Ref: ref, Revision: l.revision(ref), ExecuteAt: l.anyTime(), IfGeneration: l.ifGeneration(ref)}
	}
	l.asked(items)
	got, err := l.engine().Rearm(l.ctx, l.now, items)
	want, wantErr := l.reference.Rearm(l.ctx, l.now, items)
	l.same("rearm: error", kindOf(err), kindOf(wantErr))
	l.same("rearm", comparableWrites(got), comparableWrites(want))
}

// forgetSome forgets generations that history has, and others.
func (l *lockstep) forgetSome() {
	var items []store.Forget
	for range 1 + l.random.IntN(3) {
		_, _, ref := l.anyTimer()
		item := store.Forget{Ref: ref, Generation: timer.Generation(l.earlierRevision(ref))}
		if past, _ := l.reference.History(l.ctx, l.now, ref, 10); len(past) > 0 && l.chance(80) {
			item.Generation = past[l.random.IntN(len(past))].Generation
		}
		items = append(items, item)
	}
	l.asked(items)
	got, err := l.engine().Forget(l.ctx, l.now, items)
	want, wantErr := l.reference.Forget(l.ctx, l.now, items)
	l.same("forget: error", kindOf(err), kindOf(wantErr))
	l.same("forget", kindsOf(got), kindsOf(want))
}

// comparableDue is a shard's answer to Due. If it is fenced, only Err is set.
type comparableDue struct {
	Err       string
	Rows      []store.DueRow
	Cut       bool
	NextDueAt timer.Millis
}

func comparableDues(all []store.DueShard) []comparableDue {
	out := make([]comparableDue, len(all))
	for i, d := range all {
		out[i] = comparableDue{Err: kindOf(d.Err), Rows: d.Rows}
		if d.Err == nil {
			out[i].Cut, out[i].NextDueAt = d.Cut, d.NextDueAt
		}
	}
	return out
}

func (l *lockstep) dueSome() {
	ours := store.DueQuery{Horizon: l.anyBound(), PerShard: 1 + l.random.IntN(5), Total: 1 + l.random.IntN(12)}
	theirs := ours
	for _, c := range l.someClaims() {
		after := pick(l, l.anyKey(), store.MinKey())
		ours.Shards = append(ours.Shards, store.DueAfter{Claim: c.engine, After: after})
		theirs.Shards = append(theirs.Shards, store.DueAfter{Claim: c.reference, After: after})
	}
	l.compareDue(ours, theirs)
}

func (l *lockstep) compareDue(ours, theirs store.DueQuery) {
	l.asked(theirs)
	got, err := l.engine().Due(l.ctx, ours)
	want, wantErr := l.reference.Due(l.ctx, theirs)
	l.same("due: error", kindOf(err), kindOf(wantErr))
	l.same("due", comparableDues(got), comparableDues(want))
	for _, d := range want {
		l.remember(d.Rows)
	}
}

// comparableOverdue is a shard's answer to Overdue.
type comparableOverdue struct {
	Err  string
	Rows []store.DueRow
	More bool
}

func comparableOverdues(all []store.OverdueShard) []comparableOverdue {
	out := make([]comparableOverdue, len(all))
	for i, o := range all {
		out[i] = comparableOverdue{Err: kindOf(o.Err), Rows: o.Rows, More: o.More}
	}
	return out
}

func (l *lockstep) overdueSome() {
	ours := store.OverdueQuery{Before: l.anyBound(), Limit: 1 + l.random.IntN(12)}
	theirs := ours
	for _, c := range l.someClaims() {
		from, upto := store.MinKey(), pick(l, l.anyKey(), store.MaxKeyAt(l.anyBound()))
		if l.chance(30) {
			from = l.anyKey()
		}
		ours.Shards = append(ours.Shards, store.OverdueRange{Claim: c.engine, From: from, Upto: upto})
		theirs.Shards = append(theirs.Shards, store.OverdueRange{Claim: c.reference, From: from, Upto: upto})
	}
	l.asked(theirs)
	got, err := l.engine().Overdue(l.ctx, ours)
	want, wantErr := l.reference.Overdue(l.ctx, theirs)
	l.same("overdue: error", kindOf(err), kindOf(wantErr))
	l.same("overdue", comparableOverdues(got), comparableOverdues(want))
}

func (l *lockstep) claimSome() {
	var shards []shard.ID
	for _, c := range l.someClaims() {
		shards = append(shards, c.engine.Shard)
	}
	l.claimBoth(shards)
}

func (l *lockstep) claimBoth(shards []shard.ID) {
	l.asked(shards)
	owner := l.owner()
	got, err := l.engine().Claim(l.ctx, l.now, owner, shards)
	want, wantErr := l.reference.Claim(l.ctx, l.now, owner, shards)
	l.same("claim: error", kindOf(err), kindOf(wantErr))
	for i, id := range shards {
		if before := l.claims[id]; len(before) > 0 {
			l.same("claim: version", got[i].Claim.Version, before[len(before)-1].engine.Version+1)
		}
		l.claims[id] = append(l.claims[id], claimPair{got[i].Claim, want[i].Claim})
		l.same("claim: watermark", got[i].Watermark, want[i].Watermark)
		l.same("claim: published", got[i].Published, want[i].Published)
	}
}

func (l *lockstep) advanceSome() {
	var ours, theirs []store.Advance
	for _, c := range l.someClaims() {
		to := l.anyKey()
		ours = append(ours, store.Advance{Claim: c.engine, Watermark: to})
		theirs = append(theirs, store.Advance{Claim: c.reference, Watermark: to})
	}
	l.asked(theirs)
	got, err := l.engine().Advance(l.ctx, l.now, ours)
	want, wantErr := l.reference.Advance(l.ctx, l.now, theirs)
	l.same("advance: error", kindOf(err), kindOf(wantErr))
	l.same("advance", kindsOf(got), kindsOf(want))
}

func (l *lockstep) releaseSome() {
	var ours, theirs []store.Release
	for _, c := range l.someClaims() {
		published := l.anyKey()
		ours = append(ours, store.Release{Claim: c.engine, Published: published})
		theirs = append(theirs, store.Release{Claim: c.reference, Published: published})
	}
	l.asked(theirs)
	got, err := l.engine().Release(l.ctx, l.now, ours)
	want, wantErr := l.reference.Release(l.ctx, l.now, theirs)
	l.same("release: error", kindOf(err), kindOf(wantErr))
	l.same("release", kindsOf(got), kindsOf(want))
	if l.chance(80) {
		l.claimBoth(l.everyShard()) // otherwise all claims are fenced for a while
	}
}

func (l *lockstep) publishSome() {
	entries := l.compareOutbox(l.everyShard(), l.anyTime())
	var ids []store.OutboxID
	for _, n := range entries {
		if l.chance(40) {
			ids = append(ids, n.ID)
		}
	}
	l.asked(ids)
	l.same("remove from outbox: error", kindOf(l.engine().RemoveFromOutbox(l.ctx, ids)), kindOf(l.reference.RemoveFromOutbox(l.ctx, ids)))
}

func (l *lockstep) compareOutbox(shards []shard.ID, before timer.Millis) []store.OutboxEntry {
	const all = 10_000
	l.asked(shards, before)
	got, err := l.engine().Outbox(l.ctx, shards, before, all)
	want, wantErr := l.reference.Outbox(l.ctx, shards, before, all)
	l.same("outbox: error", kindOf(err), kindOf(wantErr))
	entries := comparableEntries(want)
	l.same("outbox", comparableEntries(got), entries)
	return entries
}

func (l *lockstep) listSome() {
	q := store.ListQuery{Namespace: pick(l, l.spaces...), Limit: 1 + l.random.IntN(5)}
	if l.chance(60) {
		q.Status = pick(l, timer.Statuses()...)
	}
	if l.chance(40) {
		q.CorrelationID = pick(l, "x", "y", "ü", refIn(q.Namespace, pick(l, l.names...)).UUID.String())
	}
	if l.chance(30) {
		q.DueFrom = l.anyTime()
	}
	if l.chance(30) {
		q.DueBefore = l.anyTime()
	}
	l.compareList(q)
}

func (l *lockstep) compareList(q store.ListQuery) {
	l.asked(q)
	side := *l.world
	side.store = l.engine()
	got := side.list(q)
	side.store = l.reference
	l.same("list", comparableList(got), comparableList(side.list(q)))
}

func (l *lockstep) purgeSome() {
	// With a limit, the engine would choose which rows to keep, so there is none.
	const all = 100_000
	got, err := l.engine().Purge(l.ctx, l.now, all)
	want, wantErr := l.reference.Purge(l.ctx, l.now, all)
	l.same("purge: error", kindOf(err), kindOf(wantErr))
	if !l.purges() {
		want = 0
	}
	l.same("purge", got, want)
}

func (l *lockstep) reopen() {
	if l.subject.Reopen == nil {
		return
	}
	l.world.store = l.subject.Reopen(l.t)
	l.engines = l.handles(3)
}

// audit compares everything that can be read.
func (l *lockstep) audit() {
	l.note("audit")
	var checks []store.Check
	for _, ns := range l.spaces {
		for _, id := range l.names {
			ref := refIn(ns, id)
			checks = append(checks, store.Check{Ref: ref})
			got, err := l.engine().Get(l.ctx, l.now, ref)
			want, wantErr := l.reference.Get(l.ctx, l.now, ref)
			l.same("get: error", kindOf(err), kindOf(wantErr))
			l.same("get", comparableTimer(got), comparableTimer(want))
			l.asked(id, ns.Name)
			limit := 1 + l.random.IntN(1000)
			entries, err := l.engine().History(l.ctx, l.now, ref, limit)
			wantEntries, wantErr := l.reference.History(l.ctx, l.now, ref, limit)
			l.same("history: error", kindOf(err), kindOf(wantErr))
			l.same("history", entries, wantEntries)
		}
		for _, status := range append(timer.Statuses(), "") {
			l.compareList(store.ListQuery{Namespace: ns, Status: status, Limit: 100})
		}
	}
	l.compareChecks(checks)
	l.compareOutbox(l.everyShard(), timer.MaxMillis)
	shards := l.everyShard()
	l.claimBoth(shards)
	ours := store.DueQuery{Horizon: timer.MaxMillis, PerShard: 1000, Total: 10_000}
	theirs := ours
	for _, id := range shards {
		newest := l.claims[id][len(l.claims[id])-1]
		ours.Shards = append(ours.Shards, store.DueAfter{Claim: newest.engine, After: store.MinKey()})
		theirs.Shards = append(theirs.Shards, store.DueAfter{Claim: newest.reference, After: store.MinKey()})
	}
	l.compareDue(ours, theirs)
	l.auditCensus()
}

func (l *lockstep) auditCensus() {
	ours, ok := store.As[store.Census](l.engine())
	theirs, both := store.As[store.Census](l.reference)
	if !ok || !both {
		return
	}
	got, err := ours.Count(l.ctx, l.now)
	l.check(err, "count")
	want, err := theirs.Count(l.ctx, l.now)
	l.check(err, "count of the reference")
	l.same("count", got, want)
}
