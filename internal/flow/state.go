package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Instant is a time of the store's clock, in nanoseconds since 1970.
type Instant int64

// At returns the instant of a time in milliseconds.
func At(at timer.Millis) Instant { return Instant(at) * Instant(time.Millisecond) }

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Millis returns the instant in milliseconds since 1970, rounded down.
func (i Instant) Millis() timer.Millis { return timer.Millis(i / Instant(time.Millisecond)) }

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

const (
	// Horizon is how far ahead slots are leased. Slots that a dispatcher has leased when it dies are lost.
	Horizon = time.Second
	// PermitsFor is how long permits are leased. A dead dispatcher's permits return after this time.
	PermitsFor = 4 * time.Second
	// clockMargin is added where a time in the state is compared with the latest one that a correct clock can have written.
	clockMargin = time.Second
	// maxSlack is more than what dispatchers need.
	maxSlack = 30 * time.Second
	// slackForgotten is longer than cleanSlack keeps a slack, with the longest period and the largest burst.
	slackForgotten = 7 * 24 * time.Hour
	// idleAfter is how long slots are not used before the next turn begins now.
	idleAfter = 10 * time.Second
	// maxTail bounds how far ahead the turns of waiting timers are planned.
	maxTail = 366 * 24 * time.Hour
)

// Tolerance is how long after its time a slot may be used, if the clock of the dispatcher is good enough.
func Tolerance(r timer.FlowRate) time.Duration { return min(r.Per/20, time.Second) }

// Interval is the time between two slots, if the clocks of the dispatchers are good enough. Each slot is used at most Tolerance
// late, so that in any window of length Per at most Count + Burst − 1 slots are used.
func Interval(r timer.FlowRate) time.Duration { return interval(r, 0) }

// interval is the time between two slots that are used at most Tolerance and slack late.
func interval(r timer.FlowRate, slack time.Duration) time.Duration {
	count := time.Duration(r.Count)
	return (r.Per + Tolerance(r) + slack + count - 1) / count
}

// early is how long before its time a slot may be used, which is what allows a burst.
func early(r timer.FlowRate) time.Duration { return time.Duration(r.Burst-1) * Interval(r) }

// slackFor is how much longer than Tolerance a slot may be used by a dispatcher that requests it. The dispatcher does not use the
// first and the last part of a slot, each as long as the error of its clock, so that Late and half of the tolerance remain.
func slackFor(rate timer.FlowRate, r *Request) time.Duration {
	return min(max(2*r.ClockError+r.Late-Tolerance(rate)/2, 0), maxSlack)
}

// Slot is the right to begin one delivery from From until Until. It is lost if it is not used.
type Slot struct{ From, Until Instant }

// State is the shared state of a flow. The zero value is that of a flow that is not in use.
type State struct {
	// NextAt is the time of the next slot.
	NextAt Instant `json:"next,omitempty"`
	// Slack is the largest slack of the slots that were leased since SlackAt, and SlackBefore that of the slots before them. Slots
	// are further apart while a window can contain slots with this slack.
	Slack       time.Duration `json:"slack,omitempty"`
	SlackBefore time.Duration `json:"slackBefore,omitempty"`
	SlackAt     Instant       `json:"slackAt,omitempty"`
	// TailAt is the next turn of timers that are postponed for the first time. It is an estimate.
	TailAt Instant `json:"tail,omitempty"`
	// Holders are the dispatchers that hold or want slots or permits, ordered by ID.
	Holders []Holder `json:"holders,omitempty"`
}

// Holder is a dispatcher in the state of a flow.
type Holder struct {
	ID    string  `json:"id"`
	Until Instant `json:"until"`
	// Permits were leased until Until.
	Permits int `json:"permits,omitempty"`
	// Running deliveries use permits. Waiting ones are in the dispatcher's memory.
	Running int `json:"running,omitempty"`
	Waiting int `json:"waiting,omitempty"`
}

// Parse parses the result of String. The empty text is the zero state.
func Parse(text string) (State, error) {
	var s State
	if text == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return State{}, fmt.Errorf("state of a flow: %w", err)
	}
	return s, nil
}

// String returns the text in which a state is stored; empty for the zero state.
func (s *State) String() string {
	if s.NextAt == 0 && s.TailAt == 0 && len(s.Holders) == 0 && s.slack() == 0 {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "" // numbers and texts can always be encoded
	}
	return string(text)
}

// Request is what a dispatcher wants.
type Request struct {
	// ID identifies the dispatcher.
	ID string
	// Slots is how many more slots it can use. ClockError is the largest error of its clock, and Late how long its deliveries take from
	// their slot's time to their request.
	Slots            int
	ClockError, Late time.Duration
	// Running deliveries hold permits that have not expired. Waiting ones want permits.
	Running, Waiting int
	// Held is the number of permits that the dispatcher may use until it has the answer: at least Running, and at most what it has
	// leased. The answer does not take them away.
	Held int
	// Turns is how many timers it will postpone for the first time, to turns that are Every apart, the time in which the flow delivers
	// one. TurnsAfter is the first possible turn.
	Turns      int
	Every      time.Duration
	TurnsAfter Instant
}

// Grant is what a dispatcher gets.
type Grant struct {
	Slots []Slot
	// Permits replaces the permits that the dispatcher has held. They are valid for PermitsFor.
	Permits int
	// Share is how many permits it should hold at the next request, because other dispatchers want some.
	Share int
	// NextSlot is when the next slot may be used.
	NextSlot Instant
	// TurnsFrom is the first of the turns.
	TurnsFrom Instant
	// Unused: no dispatcher uses the flow. Its state can be removed UnusedFor later.
	Unused    bool
	UnusedFor time.Duration
}

// Lease grants what a limit allows at now, and changes the state accordingly. If nothing remains to be known about the flow, the state
// becomes the zero state.
func (s *State) Lease(now Instant, limit *timer.FlowLimit, r *Request) Grant {
	s.clean(now, limit)
	var g Grant
	me := Holder{ID: r.ID, Until: now.Add(PermitsFor), Running: r.Running, Waiting: r.Waiting}
	if limit.Concurrency > 0 {
		me.Permits, g.Share = s.permits(limit.Concurrency, r)
		g.Permits = me.Permits
	}
	if limit.Rate.Count > 0 {
		// A dispatcher without permits could not use slots, and those with permits would have none.
		if limit.Concurrency == 0 || g.Permits > 0 {
			g.Slots = s.leaseSlots(now, limit.Rate, r)
		}
		g.NextSlot = s.NextAt.Add(-early(limit.Rate))
	}
	s.Holders = slices.DeleteFunc(s.Holders, func(h Holder) bool { return h.ID == r.ID })
	if me.Permits > 0 || me.Running > 0 || me.Waiting > 0 {
		at, _ := slices.BinarySearchFunc(s.Holders, r.ID, func(h Holder, id string) int { return strings.Compare(h.ID, id) })
		s.Holders = slices.Insert(s.Holders, at, me)
	}
	if r.Turns > 0 {
		g.TurnsFrom = max(s.TailAt, now, r.TurnsAfter)
		every := min(r.Every.Seconds(), maxTail.Seconds()/float64(r.Turns))
		s.TailAt = min(g.TurnsFrom.Add(time.Duration(float64(r.Turns)*every*float64(time.Second))), now.Add(maxTail))
	}
	if len(s.Holders) == 0 && s.NextAt <= now && s.TailAt <= now && s.slack() == 0 {
		*s = State{}
	}
	if g.Unused = len(s.Holders) == 0; g.Unused {
		g.UnusedFor = max(s.NextAt.Sub(now), s.TailAt.Sub(now), 0)
		if s.slack() > 0 {
			g.UnusedFor += limit.Rate.Per + maxSlack
		}
	}
	return g
}

// Unused reports whether a state has no effect any more, whatever the limit is. The limits that the caller knows may be old.
func (s *State) Unused(now Instant) bool {
	held := slices.ContainsFunc(s.Holders, func(h Holder) bool { return h.Until > now })
	return !held && s.NextAt <= now && s.TailAt <= now && (s.slack() == 0 || now.Sub(s.SlackAt) > slackForgotten)
}

// slack returns the slack that the slots of a window may have.
func (s *State) slack() time.Duration { return max(s.Slack, s.SlackBefore) }

// cleanSlack forgets the slack of slots that are older than a period. A slot that is leased at a time t has a time before
// t + Horizon + early, and must not be used in a window with the Count + Burst slots that follow it.
func (s *State) cleanSlack(now Instant, rate timer.FlowRate) {
	if s.slack() == 0 {
		s.SlackAt = 0
		return
	}
	lasts := Horizon + rate.Per + Tolerance(rate) + s.slack() + 2*early(rate)
	switch age := now.Sub(s.SlackAt); {
	case age >= 2*lasts:
		s.Slack, s.SlackBefore, s.SlackAt = 0, 0, 0
	case age >= lasts:
		s.Slack, s.SlackBefore, s.SlackAt = 0, s.Slack, now
	case age < 0: // a wrong clock wrote it
		s.SlackAt = now
	}
}

// clean removes the holders whose leases have ended, and corrects times that a wrong clock, or another limit, has written.
func (s *State) clean(now Instant, limit *timer.FlowLimit) {
	s.Holders = slices.DeleteFunc(s.Holders, func(h Holder) bool { return h.Until <= now })
	for i := range s.Holders {
		s.Holders[i].Until = min(s.Holders[i].Until, now.Add(PermitsFor+clockMargin))
	}
	s.TailAt = min(s.TailAt, now.Add(maxTail))
	if limit.Rate.Count == 0 {
		s.NextAt, s.Slack, s.SlackBefore, s.SlackAt = 0, 0, 0, 0
		return
	}
	s.cleanSlack(now, limit.Rate)
	latest := now.Add(Horizon + early(limit.Rate) + interval(limit.Rate, s.slack()) + clockMargin)
	s.NextAt = min(s.NextAt, latest)
	// If timers did not use their turns, they were deleted, or delivered earlier. Perhaps all that wait for turns were.
	if s.NextAt != 0 && now.Sub(s.NextAt.Add(-early(limit.Rate))) > max(idleAfter, Interval(limit.Rate)) {
		s.TailAt = min(s.TailAt, now)
	}
}

// leaseSlots leases the slots that may be used within the horizon, at most as many as r requests.
func (s *State) leaseSlots(now Instant, rate timer.FlowRate, r *Request) []Slot {
	slack := slackFor(rate, r)
	every, early, late := interval(rate, max(slack, s.slack())), early(rate), Tolerance(rate)+slack
	var slots []Slot
	for next := max(s.NextAt, now); len(slots) < r.Slots; next = next.Add(every) {
		from := max(next.Add(-early), now)
		if from > now.Add(Horizon) {
			break
		}
		slots = append(slots, Slot{from, next.Add(late)})
		s.NextAt = next.Add(every)
	}
	if len(slots) > 0 && slack > s.Slack {
		if s.slack() == 0 {
			s.SlackAt = now
		}
		s.Slack = slack
	}
	return slots
}

// permits returns how many permits a dispatcher gets, and its share. While other dispatchers want more than they have, it gets only
// its equal share and those that it holds.
func (s *State) permits(limit int, r *Request) (got, share int) {
	own, others, wanting, sharers := 0, 0, false, 1
	for _, h := range s.Holders {
		if h.ID == r.ID {
			own = h.Permits
			continue
		}
		others += h.Permits
		sharers++
		wanting = wanting || h.Waiting > 0 && h.Permits <= limit/(len(s.Holders)+1)
	}
	share = limit
	if wanting {
		share = (limit + sharers - 1) / sharers
	}
	got = min(r.Running+r.Waiting, max(limit-others, 0), share)
	// Deliveries whose lease has ended hold no permits.
	return max(got, min(r.Held, own)), share
}

// Use is a summary of a state, for users.
type Use struct {
	// Running deliveries hold a permit or have used a slot. Waiting ones are in the memory of a dispatcher.
	Running, Waiting int
	// Backlog estimates how many timers wait in their rows. It is 0 if the flow has no rate.
	Backlog int
	// Dispatchers use the flow at present.
	Dispatchers int
}

// Use returns the summary at now. every is the time in which the flow delivers one timer, if its limit has a rate.
func (s *State) Use(now Instant, limit *timer.FlowLimit) Use {
	var u Use
	for _, h := range s.Holders {
		if h.Until > now {
			u.Running += h.Running
			u.Waiting += h.Waiting
			u.Dispatchers++
		}
	}
	if limit.Rate.Count > 0 && s.TailAt > now {
		u.Backlog = int(s.TailAt.Sub(now) / Interval(limit.Rate))
	}
	return u
}
