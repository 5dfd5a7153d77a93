package admission

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// TestTimersWithTheFewestPostponementsArePostponedFirst delivers a backlog of one host that is 16 times as large as the
// intake. The calls take 30 ms in one second and 150 ms in the next, so timers often come back while the queue of the host is
// full. Without the count of postponements in revisions a timer is postponed up to 5 times, while later ones are called.
func TestTimersWithTheFewestPostponementsArePostponedFirst(t *testing.T) {
	const (
		timers, inFlight, permits = 20_000, 1280, 64
		fast, slow, write, step   = 30 * ms, 150 * ms, 100 * ms, 10 * ms
	)
	q := New(&Limits{
		Concurrency: 2048, Room: 4096, RoomBytes: 1 << 20, Batch: 256, MaxInFlight: inFlight, HostLimit: permits, KnownHosts: 100,
		HostMaxWait: time.Second, MaxPostpone: time.Minute, CircuitAfter: 20, CircuitOpenFor: 10 * time.Second,
		LeaseAfter: 2 * time.Second, HoldFor: 10 * time.Second,
	})
	session := &Session{}
	type waiting struct{ id, postponements int }
	schedule := map[time.Duration][]waiting{} // by the step at which they come back
	calls := map[time.Duration][]*Ticket{}    // by the step at which they end
	writes := map[time.Duration][]*Ticket{}   // by the step at which their postponements are written
	var due []waiting                         // the timers that have come back; new ones wait for them
	held, created, done, postponements, most := 0, 0, 0, 0, 0
	at := time.Duration(0)
	for ; done < timers; at += step {
		if at > 2*time.Minute {
			t.Fatalf("%d of %d done after %v", done, timers, at)
		}
		for _, ticket := range calls[at] {
			q.EndAttempt(ticket, Replied, at)
			q.End(ticket)
			held--
			done++
		}
		for _, ticket := range writes[at] {
			q.End(ticket)
			held--
		}
		due = append(due, schedule[at]...)
		for ; held < inFlight && (len(due) > 0 || created < timers); held++ {
			w := waiting{id: created}
			if len(due) > 0 {
				w, due = due[0], due[1:]
			} else {
				created++
			}
			ticket := &Ticket{
				State: State{Revision: timer.Revision(w.postponements + 1)}, Target: targetOf("slow"), Session: session,
				Postponements: min(w.postponements, timer.MaxPostponements),
				Delivery:      w,
			}
			binary.BigEndian.PutUint32(ticket.UUID[:], uint32(w.id))
			q.Offer(ticket, 0, at)
		}
		for more := true; more; {
			r := q.Decide(0, at)
			for _, p := range r.Postpone {
				w := p.Delivery.(waiting) //nolint:errcheck // set above.
				w.postponements++
				postponements, most = postponements+1, max(most, w.postponements)
				back := at + max(write, p.Delay.Truncate(step))
				schedule[back] = append(schedule[back], w)
				writes[at+write] = append(writes[at+write], p.Ticket)
			}
			for _, ticket := range r.Check {
				q.Start(ticket, at)
				end := at + fast
				if at/time.Second%2 > 0 {
					end = at + slow
				}
				calls[end] = append(calls[end], ticket)
			}
			more = len(r.Check) > 0
		}
	}
	t.Logf("%d timers in %v, %d postponements, at most %d of one timer", timers, at, postponements, most)
	if most > 3 {
		t.Errorf("a timer was postponed %d times, want at most 3", most)
	}
}
