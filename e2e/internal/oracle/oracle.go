package oracle

import (
	"fmt"
	"sync"
	"time"
)

// LateGrace is how long after the answer to a late (202) write a delivery of the old state may still arrive: it may
// have been in flight.
const LateGrace = 5 * time.Second

// Oracle collects the observations of clients and receivers. It is safe for concurrent use.
type Oracle struct {
	mu        sync.Mutex
	timers    map[string]*history
	open      []*history // timers that may still be owed a delivery
	tokens    map[string]*Write
	horizon   time.Time
	down      bool
	killed    time.Time
	restarted time.Time
	counts    Report
	// followUps has the webhook-ids of the follow-ups of each outcome. unjudged are those that judgeFollowUps has not judged.
	followUps map[outcome][]string
	unjudged  []FollowUp
}

// history has all writes of one timer, in the order in which they were sent.
type history struct {
	id     string
	writes []*Write
	open   bool
}

type state int

const (
	perhaps state = iota // sent; the outcome is unknown, or not yet known
	applied
	refused
)

// Write is one write that was sent.
type Write struct {
	oracle *Oracle
	timer  *history
	index  int // among the timer's writes

	remove    bool
	created   bool
	token     string
	executeAt time.Time

	state      state
	inTime     bool
	answeredAt time.Time

	lives []*life        // in the order of their first delivery
	asked map[int64]bool // times of reschedules by answers, in Unix milliseconds
	done  bool           // a delivery was answered as done or dead

	urls    []Verdict // the outcomes for which the timer has a URL
	end     Verdict   // Done or Dead, if done; endedBy is the webhook-id of the latest such delivery, endedAt when it was answered
	endedBy string
	endedAt time.Time
}

// life has the deliveries with one webhook-id.
type life struct {
	id       string
	attempts map[int]bool
	again    bool    // an answer rescheduled it
	over     bool    // an answer ended it: done, dead or again
	end      Verdict // Done or Dead, if an answer ended it so
}

// New returns an empty oracle.
func New() *Oracle {
	return &Oracle{timers: map[string]*history{}, tokens: map[string]*Write{}, followUps: map[outcome][]string{}}
}

// Creating must be called before a create is sent.
func (o *Oracle) Creating(id, token string, executeAt time.Time) *Write {
	return o.write(id, &Write{created: true, token: token, executeAt: executeAt})
}

// Updating must be called before an update is sent; the update must set both payload and time.
func (o *Oracle) Updating(id, token string, executeAt time.Time) *Write {
	return o.write(id, &Write{token: token, executeAt: executeAt})
}

// Deleting must be called before a delete is sent.
func (o *Oracle) Deleting(id string) *Write { return o.write(id, &Write{remove: true}) }

func (o *Oracle) write(id string, w *Write) *Write {
	o.mu.Lock()
	defer o.mu.Unlock()
	h, ok := o.timers[id]
	if !ok {
		h = &history{id: id}
		o.timers[id] = h
	}
	if !h.open {
		h.open = true
		o.open = append(o.open, h)
	}
	w.oracle, w.timer, w.index = o, h, len(h.writes)
	w.executeAt = w.executeAt.Truncate(time.Millisecond)
	w.asked = map[int64]bool{}
	o.horizon = latest(o.horizon, w.executeAt)
	h.writes = append(h.writes, w)
	if !w.remove {
		if _, twice := o.tokens[w.token]; twice {
			panic(fmt.Sprintf("oracle: token %q is used twice", w.token))
		}
		o.tokens[w.token] = w
	}
	return w
}

// Applied must be called when a write was answered with success: inTime for 200 and 204, not for 202.
func (w *Write) Applied(inTime bool, at time.Time) {
	o := w.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	w.state, w.inTime, w.answeredAt = applied, inTime, at
	if inTime && !w.created {
		o.judgeInTime(w)
	}
	switch {
	case w.remove && inTime:
		o.counts.DeletedInTime++
	case w.remove:
		o.counts.DeletedLate++
	case w.created:
		o.counts.Created++
	default:
		o.counts.Updated++
	}
}

// Refused must be called when it is certain that a write was not and never will be applied. A write with neither call
// stays "perhaps".
func (w *Write) Refused() {
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	w.state = refused
}

// Killed records when a fault begins; it must be called before. Late deliveries until Restarted do not count in
// MaxLateness. The counts of Round start from zero.
func (o *Oracle) Killed(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down, o.killed, o.counts.Round = true, at, Round{}
}

// Restarted records when the service was started again after a kill.
func (o *Oracle) Restarted(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down, o.restarted = false, at
	o.counts.LastRecovered, o.counts.LastRecovery = 0, 0
}
