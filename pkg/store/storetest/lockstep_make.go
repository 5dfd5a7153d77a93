package storetest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The requests of a lockstep run are random but plausible: most of them must match the guards.

func pick[T any](l *lockstep, from ...T) T { return from[l.random.IntN(len(from))] }

// anyTimer returns one of a few timers, so that operations conflict.
func (l *lockstep) anyTimer() (store.Namespace, string, store.Ref) {
	ns, id := pick(l, l.spaces...), pick(l, l.names...)
	return ns, id, refIn(ns, id)
}

// anyTime returns a time around the present. Half of the times are whole minutes, so that due times collide.
func (l *lockstep) anyTime() timer.Millis {
	at := l.now + timer.Millis(l.random.IntN(int(20*minute))) - 5*minute
	if l.chance(50) {
		at -= at % minute
	}
	return at
}

// anyBound returns anyTime, or a time after all of them.
func (l *lockstep) anyBound() timer.Millis {
	if l.chance(40) {
		return timer.MaxMillis
	}
	return l.anyTime()
}

// revision generates a revision and records its timer.
func (l *lockstep) revision(ref store.Ref) timer.Revision {
	r := l.next()
	l.revisions[ref.UUID] = append(l.revisions[ref.UUID], r)
	return r
}

// earlierRevision returns one that the timer may have had.
func (l *lockstep) earlierRevision(ref store.Ref) timer.Revision {
	all := l.revisions[ref.UUID]
	if len(all) == 0 {
		return 1
	}
	return all[len(all)-1-l.random.IntN(min(3, len(all)))]
}

// referenceRow returns the reference's row, so that the next request is plausible.
func (l *lockstep) referenceRow(ref store.Ref) (timer.Timer, bool) {
	l.t.Helper()
	out, err := l.reference.Current(l.ctx, []store.Check{{Ref: ref}})
	l.check(err, "current of the reference")
	return out[0].Timer, out[0].Found
}

// ifGeneration returns 0, the present generation, or a different one.
func (l *lockstep) ifGeneration(ref store.Ref) timer.Generation {
	switch row, ok := l.referenceRow(ref); {
	case l.chance(60):
		return 0
	case ok && l.chance(60):
		return row.Generation
	default:
		return timer.Generation(l.earlierRevision(ref))
	}
}

func (l *lockstep) anySpec() timer.Spec {
	s := timer.Spec{
		ExecuteAt:       l.anyTime(),
		CallbackTimeout: pick(l, time.Second, 30*time.Second, 1500*time.Millisecond),
		Retry:           timer.DefaultRetryPolicy(),
		CorrelationID:   pick(l, "", "x", "y", "ü"),
		Headers:         pick(l, timer.Headers(""), "", "X-A: 1\n", "X-A: 2\nX-B: b\n"),
		Payload:         pick(l, nil, []byte("1"), []byte(` {"a" : [ ] }`), []byte(strings.Repeat("9", 3000))),
	}
	s.Retry.MaxAttempts = 1 + l.random.IntN(9)
	s.Retry.BackoffMultiplier = pick(l, 1, 1.1, 2.75)
	if l.chance(70) {
		s.Deliver = pick(l, timer.DeliverAuto, timer.DeliverCallback, timer.DeliverBoth)
		s.CallbackURL = pick(l, "https://example.com/a", "http://example.org/?q=%27")
	}
	if s.Way() != timer.DeliverCallback {
		s.Topic = pick(l, "", "orders.a", "orders.b")
	}
	if s.Topic != "" {
		s.EventKey = pick(l, "", "k", "ü")
	}
	if s.Way() == timer.DeliverCallback && l.chance(30) {
		s.Request, s.Payload = l.anyRequest()
	}
	s.Window = pick(l, 0, 0, time.Millisecond, timer.MaxWindow)
	s.ExpireAfter = pick(l, 0, 0, time.Millisecond, timer.MaxExpireAfter)
	s.OnDone, s.OnDead = pick(l, "", "http://done"), pick(l, "", "https://dead/ä")
	s.FlowKey = pick(l, "", "", "tenant 7/ä")
	s.Local = pick(l, nil, nil, &timer.LocalTime{At: "2030-10-27T02:30", Zone: "Europe/Berlin", Repeated: timer.RepeatedSecond})
	s.Schedule = pick(l, "", "", "", `{"specs":[{"cron":"* * * * *"}]}`)
	return s
}

// anyRequest returns a request and its body.
func (l *lockstep) anyRequest() (timer.Request, []byte) {
	r := timer.Request{Method: pick(l, timer.Methods()...), Reschedule: l.chance(50)}
	if r.Method == http.MethodGet || l.chance(30) {
		return r, nil
	}
	r.ContentType = pick(l, "text/plain; charset=utf-8", "application/octet-stream")
	return r, pick(l, []byte("not JSON"), []byte("\x00\xff"), []byte("1"))
}

func (l *lockstep) anyPatch() timer.Patch {
	var p timer.Patch
	s := l.anySpec()
	if l.chance(40) {
		p.ExecuteAt, p.Local, p.Window = &s.ExecuteAt, s.Local, &s.Window
	}
	if l.chance(30) {
		p.Payload = &s.Payload // may be refused, because the timer has a request
		if s.Request.Raw() || l.chance(50) {
			p.Request = &s.Request
		}
	}
	if l.chance(30) {
		p.CorrelationID = &s.CorrelationID
	}
	if l.chance(20) {
		p.ExpireAfter, p.OnDone = &s.ExpireAfter, &s.OnDone
		p.FlowKey, p.Schedule = &s.FlowKey, &s.Schedule
	}
	if l.chance(10) {
		p.ExpiresAt, p.OnDead = new(l.anyTime()), &s.OnDead // may be before executeAt
	}
	if l.chance(30) {
		p.Headers = &s.Headers
	}
	if l.chance(30) {
		p.Topic = &s.Topic // may not match the way of delivery, or leave a key without a topic
	}
	if l.chance(30) {
		p.EventKey = &s.EventKey
	}
	if l.chance(20) {
		p.Deliver = &s.Deliver // may not match the URL
	}
	if l.chance(20) {
		p.CallbackURL = &s.CallbackURL
	}
	if l.chance(20) {
		p.CallbackTimeout = &s.CallbackTimeout
	}
	if l.chance(20) {
		p.Retry = &timer.RetryPatch{MaxAttempts: &s.Retry.MaxAttempts}
	}
	if l.chance(10) {
		p.Retry = &timer.RetryPatch{BackoffMultiplier: pick(l, &s.Retry.BackoffMultiplier, new(0.5))}
	}
	return p
}

func (l *lockstep) anyOp() store.Op {
	ns, id, ref := l.anyTimer()
	switch {
	case l.chance(50):
		return store.Put{
			Ref: ref, Namespace: ns.Name, ID: id, Revision: l.revision(ref), Spec: l.anySpec(),
			OnConflict: pick(l, store.Replace, store.Keep, store.Fail),
		}
	case l.chance(45):
		return store.Update{Ref: ref, Revision: l.revision(ref), Patch: l.anyPatch(), IfGeneration: l.ifGeneration(ref), UnlessPaused: l.chance(20)}
	case l.chance(35):
		return store.Pause{
			Ref: ref, Revision: l.revision(ref), By: pick(l, "", "ops"), Note: pick(l, "", pauseNote), IfGeneration: l.ifGeneration(ref),
		}
	case l.chance(40):
		return store.Resume{
			Ref: ref, Revision: l.revision(ref), At: l.anyTime(), Delay: time.Duration(l.random.IntN(3)) * time.Second, Skip: l.chance(50), IfGeneration: l.ifGeneration(ref),
		}
	default:
		return store.Delete{Ref: ref, IfGeneration: l.ifGeneration(ref)}
	}
}

func (l *lockstep) anyOps() []store.Op {
	ops := make([]store.Op, 1+l.random.IntN(6))
	for i := range ops {
		ops[i] = l.anyOp()
	}
	return ops
}

// anyFinish returns an outcome that usually matches a row.
func (l *lockstep) anyFinish() store.Finish {
	_, _, ref := l.anyTimer()
	row, ok := l.referenceRow(ref)
	if !ok && l.chance(80) {
		_, _, ref = l.anyTimer() // usually try another timer
		row, _ = l.referenceRow(ref)
	}
	f := store.Finish{
		Ref: ref, DueAt: row.DueAt,
		Kind: pick(l, store.FinishDone, store.FinishRescheduled, store.FinishRetry, store.FinishRetry,
			store.FinishLeased, store.FinishPostponed, store.FinishDead, store.FinishParked),
		Next: l.revision(ref), NextAt: l.anyTime(), CountStart: l.chance(50), ReturnStart: l.chance(20),
		FlowTurn: pick(l, 0, l.anyTime()), ScheduleState: pick(l, "", `{"created":1}`),
		Record: l.anyRecord(row.Attempts),
	}
	switch {
	case l.chance(55):
		f.If.Revision = row.Revision
	case l.chance(60):
		f.If.Generation = row.Generation
	case l.chance(50):
		f.If.Revision = l.earlierRevision(ref)
	default:
		f.If.Generation = timer.Generation(l.earlierRevision(ref))
	}
	if f.If == (store.Guard{}) {
		f.If.Revision = 1
	}
	if l.chance(10) {
		f.DueAt = l.anyTime() // a stale hint
	}
	if (f.Kind == store.FinishDone || f.Kind == store.FinishDead || f.Kind == store.FinishRescheduled) && l.chance(30) {
		f.FollowUp = l.anyFollowUp(ref)
	}
	return f
}

// anyFollowUp returns the create of a new timer in the same shard as ref.
func (l *lockstep) anyFollowUp(ref store.Ref) *store.Put {
	ns := l.spaces[0]
	if !ns.Shards.Contains(ref.Shard) {
		ns = l.spaces[1]
	}
	revision := l.next()
	id := ns.Shards.FollowUpID(ref.Shard, revision.String())
	return &store.Put{Ref: refIn(ns, id), Namespace: ns.Name, ID: id, Revision: revision, Spec: l.anySpec()}
}

func (l *lockstep) anyRecord(attempts timer.Attempt) store.Record {
	finished := l.now - timer.Millis(l.random.IntN(int(10*second)))
	for l.finished[finished] { // so that the order of history is defined
		finished++
	}
	l.finished[finished] = true
	r := store.Record{
		Attempt:    attempts + 1,
		StartedAt:  finished - timer.Millis(l.random.IntN(int(second))),
		FinishedAt: finished,
		StatusCode: pick(l, 0, 200, 503),
		Error:      pick(l, "", "timeout", strings.Repeat("é", 300)),
		KeepFor:    pick(l, time.Minute, 30*time.Minute, 5*time.Hour),
	}
	if attempts > 0 && l.chance(20) {
		r.Attempt = attempts // the same attempt ran twice
	}
	return r
}

// anyClaim usually returns the newest claim.
func (l *lockstep) anyClaim() claimPair {
	all := l.claims[pick(l, l.everyShard()...)]
	if l.chance(80) {
		return all[len(all)-1]
	}
	c := pick(l, all...)
	if l.chance(30) {
		c.engine.Version++
		c.reference.Version++
	}
	return c
}

func (l *lockstep) everyShard() []shard.ID {
	var out []shard.ID
	for _, ns := range l.spaces {
		out = append(out, ns.Shards.In(0, 1)...)
	}
	return out
}

// someClaims returns claims of different shards, because a batch has each shard once.
func (l *lockstep) someClaims() []claimPair {
	var out []claimPair
	seen := map[shard.ID]bool{}
	for range 1 + l.random.IntN(4) {
		if c := l.anyClaim(); !seen[c.engine.Shard] {
			seen[c.engine.Shard] = true
			out = append(out, c)
		}
	}
	return out
}

// anyKey returns a key that was returned before, or a random one.
func (l *lockstep) anyKey() store.Key {
	if l.chance(60) {
		return pick(l, l.keys...)
	}
	return store.Key{DueAt: l.anyTime(), UUID: timer.UUIDOf("key", fmt.Sprint(l.random.Uint32()))}
}

func (l *lockstep) remember(rows []store.DueRow) {
	const most = 64
	for i := range rows {
		l.keys = append(l.keys, rows[i].Key())
	}
	if len(l.keys) > most {
		l.keys = append([]store.Key{store.MinKey()}, l.keys[len(l.keys)-most:]...)
	}
}
