package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// quotas has the history of limitedNamespace. It is guarded by oracle.mu, counts by mu.
type quotas struct {
	world   *World
	limits  []limit
	creates []tried
	purges  []purge

	handle store.Store
	mu     sync.Mutex
	counts []pendingCount
}

// limit is the quota from when a change was sent, until the next one was answered.
type limit struct {
	store.Quota

	sent, answered time.Duration
}

// pendingCount is the number of pending timers from a time on.
type pendingCount struct {
	at time.Duration
	n  int
}

// tried is a create that a process got.
type tried struct {
	s  *opState
	by *life
}

// purge is a purge of all timers with a status.
type purge struct {
	status         timer.Status
	sent, answered time.Duration
	// complete: every timer that it found was purged.
	complete bool
}

// The inexactness of the quotas (decision 0055). A process counts pending timers every countEvery while they are few, and
// every second near the limit; a count is requested by a create, and ends within countTakes.
const (
	countEvery = 10 * time.Second
	countTakes = 200 * time.Millisecond
	// sampleEvery is the interval at which the oracle counts pending timers.
	sampleEvery = 20 * time.Millisecond
)

func newQuotas(w *World) *quotas { return &quotas{world: w, limits: []limit{{}}, handle: w.db.Open()} }

// watch counts the pending timers until ctx ends.
func (q *quotas) watch(ctx context.Context) {
	for ctx.Err() == nil {
		q.count(ctx)
		sleep(ctx, sampleEvery)
	}
}

// count counts the pending timers.
func (q *quotas) count(ctx context.Context) {
	block, ok := q.world.blocks[limitedNamespace]
	if !ok {
		return
	}
	query := store.ListQuery{Namespace: store.Namespace{Name: limitedNamespace, Shards: block}, Limit: 1000, WithoutPayloads: true}
	q.mu.Lock()
	defer q.mu.Unlock()
	page, err := q.handle.List(context.WithoutCancel(ctx), timer.SystemClock(), query) // no plan has more timers than a page
	must(err)
	if n := len(q.counts); n == 0 || q.counts[n-1].n != len(page.Timers) {
		q.counts = append(q.counts, pendingCount{q.world.since(), len(page.Timers)})
	}
}

// setQuota changes the quotas.
func (w *World) setQuota(ctx context.Context, o *Op) {
	from := w.since()
	w.oracle.mu.Lock()
	at := len(w.quotas.limits)
	w.quotas.limits = append(w.quotas.limits, limit{Quota: o.Quota, sent: from, answered: never})
	w.oracle.mu.Unlock()
	number := func(n int) string {
		if n == 0 {
			return "null"
		}
		return fmt.Sprint(n)
	}
	body := fmt.Sprintf(`{"name":%q,"settings":{"quota":{"maxPending":%s,"createsPerSecond":%s,"maxPayloadBytes":%s}}}`,
		limitedNamespace, number(o.Quota.MaxPending), number(o.Quota.CreatesPerSecond), number(o.Quota.MaxPayload))
	if w.untilOK(ctx, o, "namespaces/update", body) == nil {
		return
	}
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	w.quotas.limits[at].answered = w.since()
}

// untilOK sends a request to the ingests, one after another, until one answers 200, and returns that answer. It calls sends before each.
func (w *World) untilOK(ctx context.Context, o *Op, path, body string, sends ...func()) []byte {
	for n := o.Node; ctx.Err() == nil; n++ {
		if l := w.nodes[n%ingests].serving(); l != nil {
			for _, send := range sends {
				send()
			}
			rec := w.admin(ctx, l, path, body)
			w.note("op %d  %s answered %d %s", o.ID, path, rec.Code, rec.Body)
			switch {
			case !l.alive(), rec.Code == http.StatusServiceUnavailable, rec.Code == http.StatusGatewayTimeout:
			case rec.Code == http.StatusOK:
				return rec.Body.Bytes()
			default:
				w.oracle.violate("answer", "%s: status %d: %s", path, rec.Code, rec.Body)
				return nil
			}
		}
		sleep(ctx, 200*time.Millisecond)
	}
	return nil
}

// purge purges the finished timers with a status.
func (w *World) purge(ctx context.Context, o *Op) {
	p := purge{status: o.Status, sent: w.since(), answered: never}
	w.oracle.mu.Lock()
	at := len(w.quotas.purges)
	w.quotas.purges = append(w.quotas.purges, p)
	w.oracle.mu.Unlock()
	body := w.untilOK(ctx, o, "timers/purge-matching", fmt.Sprintf(`{"namespace":%q,"status":%q,"limit":100}`, limitedNamespace, o.Status))
	if body == nil {
		return
	}
	var page struct {
		Matched, Applied int
		NextCursor       string
	}
	must(json.Unmarshal(body, &page))
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	p.answered, p.complete = w.since(), page.NextCursor == "" && page.Applied == page.Matched
	w.quotas.purges[at] = p
}

// sent records a create.
func (q *quotas) sent(op *Op, by *life) {
	if !op.Limited || op.Verb != Create {
		return
	}
	q.world.oracle.mu.Lock()
	defer q.world.oracle.mu.Unlock()
	q.creates = append(q.creates, tried{q.world.oracle.find(op.ID), by})
}

// overQuota reports whether the answer is the refusal by a quota, and records it.
func (w *World) overQuota(o *Op, a *answer, body []byte) bool {
	if a.status != http.StatusTooManyRequests && a.status != http.StatusRequestEntityTooLarge {
		return false
	}
	var refusal struct {
		Details struct{ Quota string }
	}
	must(json.Unmarshal(body, &refusal))
	if a.status == http.StatusRequestEntityTooLarge {
		refusal.Details.Quota = "maxPayloadBytes"
	}
	a.quota = refusal.Details.Quota
	return a.quota != ""
}

// possible returns the quotas that an ingest may have used between two times.
func (q *quotas) possible(from, until time.Duration) []limit {
	var found []limit
	for i, l := range q.limits {
		last := i == len(q.limits)-1
		if l.sent <= until && (last || q.limits[i+1].answered == never || q.limits[i+1].answered+staleFor >= from) {
			found = append(found, l)
		}
	}
	return found
}

// most returns the largest number of pending timers between two times.
func (q *quotas) most(from, until time.Duration) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := 0
	for i, c := range q.counts {
		if c.at <= until && (i == len(q.counts)-1 || q.counts[i+1].at >= from) {
			most = max(most, c.n)
		}
	}
	return most
}

// least is the opposite of most.
func (q *quotas) least(from, until time.Duration) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	least := -1
	for i, c := range q.counts {
		if c.at <= until && (i == len(q.counts)-1 || q.counts[i+1].at >= from) && (least < 0 || c.n < least) {
			least = c.n
		}
	}
	return max(least, 0)
}

// during returns how many creates of a process, nil for any, may have been admitted between two times.
func (q *quotas) during(by *life, from, until time.Duration) int {
	n := 0
	for _, c := range q.creates {
		s := c.s
		ended := s.known && !s.answer.unknown
		if (by == nil || c.by == by) && s.sent <= until && (!ended || s.at >= from && s.answer.quota == "") {
			n++
		}
	}
	for _, s := range q.world.oracle.ops {
		if s.op.Limited && s.op.Topic && s.op.Verb == Create && s.wasSent && s.sent <= until && (!s.known || s.at >= from) {
			n++
		}
	}
	return n
}

// checkQuotas implements the rules of quotas: a refusal needs a reason, and an acceptance room, both within the
// inexactness of decision 0055.
func (o *oracle) checkQuotas(s *opState) {
	q, a, now := o.world.quotas, &s.answer, o.world.since()
	if a.by == nil || a.unknown || a.refused || s.op.Verb == Delete {
		return
	}
	size := len(s.op.payload())
	limits := q.possible(s.sent, now)
	anyOf := func(meets func(l *limit) bool) bool {
		return slices.ContainsFunc(limits, func(l limit) bool { return meets(&l) })
	}
	stale := o.ingestStruck(s.sent - 2*staleFor)
	switch {
	case stale: // it may have missed a change or a count
	case a.quota == "maxPayloadBytes" && !anyOf(func(l *limit) bool { return l.Payload() < size }):
		o.broken("quota", "op %d with a payload of %d bytes was refused by the quotas %v", s.op.ID, size, limits)
	case a.applied() && !anyOf(func(l *limit) bool { return l.Payload() >= size }):
		o.broken("quota", "op %d with a payload of %d bytes was accepted by the quotas %v", s.op.ID, size, limits)
	case s.op.Verb != Create:
	case a.quota == "createsPerSecond" && !anyOf(func(l *limit) bool {
		return l.CreatesPerSecond > 0 && q.during(a.by, s.sent-time.Second, now) >= l.CreatesPerSecond
	}):
		o.broken("quota", "op %d was refused by the quotas %v, and its process admitted %d creates within a second",
			s.op.ID, limits, q.during(a.by, s.sent-time.Second, now))
	case a.quota == "maxPending" && !anyOf(func(l *limit) bool {
		from := q.countedAt(s, a.by)
		return l.MaxPending > 0 && q.most(from, now)+q.during(nil, from, now) >= l.MaxPending
	}):
		from := q.countedAt(s, a.by)
		o.broken("quota", "op %d was refused by the quotas %v, and since %v at most %d timers were pending and %d were created",
			s.op.ID, limits, from, q.most(from, now), q.during(nil, from, now))
	case a.applied():
		o.checkRoom(s)
	}
}

// countedAt returns a time before the count that the process used for a create.
func (q *quotas) countedAt(s *opState, by *life) time.Duration {
	from := time.Duration(0)
	for _, c := range q.creates {
		if c.by == by && c.s != s && c.s.counts() && c.s.at <= s.sent-countTakes {
			from = max(from, c.s.sent-countEvery-countTakes)
		}
	}
	return from
}

// counts reports whether the create has requested a count, if one was due.
func (s *opState) counts() bool {
	return s.known && !s.answer.unknown && !s.answer.refused && (s.answer.applied() || s.answer.quota == "maxPending" ||
		s.answer.quota == "createsPerSecond")
}

// checkRoom: a process accepts no create after it has counted too many pending timers, and not more creates in a second than
// its token bucket allows.
func (o *oracle) checkRoom(s *opState) {
	q, by, now := o.world.quotas, s.answer.by, o.world.since()
	for _, c := range q.creates {
		if c.by != by || c.s == s || !c.s.counts() || c.s.at > s.sent-countTakes {
			continue
		}
		// c was the first create that a count must have followed, if there were too many since countEvery before it.
		from := c.s.sent - countEvery - countTakes
		limits := q.possible(from, now)
		if from < 0 || len(limits) != 1 || limits[0].MaxPending == 0 || o.ingestStruck(from-2*staleFor) {
			continue
		}
		if least := q.least(from, now); least >= limits[0].MaxPending {
			o.broken("quota", "op %d was accepted, and at least %d timers were pending since %v, at most %d are allowed",
				s.op.ID, least, from, limits[0].MaxPending)
			return
		}
	}
	limits := q.possible(s.sent-time.Second, now)
	if len(limits) != 1 || limits[0].CreatesPerSecond == 0 {
		return
	}
	accepted := 0
	for _, c := range q.creates {
		if c.by == by && c.s.known && c.s.answer.applied() && c.s.sent >= now-time.Second {
			accepted++
		}
	}
	if most := 2 * limits[0].CreatesPerSecond; accepted > most {
		o.broken("quota", "%d creates were accepted by one process within a second, want at most %d", accepted, most)
	}
}

// mayBePurged reports whether a purge may have removed the end of a timer: one of its outcomes was written before the answer
// of a purge with its status.
func (o *oracle) mayBePurged(op *Op) bool {
	return op.Limited && o.world.recording.anyFinish(func(f *finish) bool {
		return f.before.ID == timerID(op.Timer) && slices.ContainsFunc(o.world.quotas.purges, func(p purge) bool {
			return p.answered >= f.at && f.end() == p.status
		})
	})
}

// checkPurged: a purge that was complete has removed every timer whose end and event were known before.
func (o *oracle) checkPurged(t *timer.Timer, op *Op) {
	if !op.Limited || !t.Status.Finished() {
		return
	}
	for _, p := range o.world.quotas.purges {
		if !p.complete || p.status != t.Status {
			continue
		}
		ended := o.world.recording.anyFinish(func(f *finish) bool {
			return f.before.UUID == t.UUID && f.before.Generation == t.Generation && f.at < p.sent && f.end() == p.status
		})
		if ended {
			o.broken("purge", "%s is %s as generation %s, and the purge at %v to %v did not remove it", t.ID, t.Status, t.Generation, p.sent, p.answered)
		}
	}
}

// end is the status with which the outcome ended the timer, if it did.
func (f *finish) end() timer.Status {
	switch f.Kind {
	case store.FinishDone:
		return timer.StatusDone
	case store.FinishDead:
		return timer.StatusDead
	default:
		return ""
	}
}

// anyFinish reports whether an outcome meets the condition.
func (r *recording) anyFinish(meets func(*finish) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.finishes, func(f finish) bool { return meets(&f) })
}

// deadIsAnnounced: every dead timer has its event, even if the timer was purged or its namespace deleted since.
func (r *recording) deadIsAnnounced() []Violation {
	var broken []Violation
	for i := range r.finishes {
		f := &r.finishes[i]
		if f.Kind == store.FinishDead && !slices.ContainsFunc(r.notices, func(n notice) bool { return n.Status == timer.StatusDead && n.matches(f) }) {
			broken = append(broken, f.attempt().violation("untold", f.at, "made the timer dead, and no dead event was published"))
		}
	}
	return broken
}
