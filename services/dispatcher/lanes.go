package dispatcher

import (
	"slices"
	"time"
)

// lanes holds the deliveries that wait for a slot, apart by namespace, so that each namespace has its turn
// however many another has brought. It is the board's, under its lock.
type lanes struct {
	// turn lists the lanes with a queue, whose turn it is first.
	turn  []*lane
	known map[string]*lane
	size  int
	clock *activity
}

// lane is one namespace's.
type lane struct {
	namespace string
	queue     []*delivery // in order of arrival
	held      int         // slots
	drain
}

// crowd is how many slots a namespace may hold for each one that is free: the last quarter of all is for
// others, if there are any.
const crowd = 3

func newLanes(clock *activity) *lanes { return &lanes{known: map[string]*lane{}, clock: clock} }

func (l *lanes) push(d *delivery) {
	o := l.of(d.namespace)
	if len(o.queue) == 0 {
		l.turn = append(l.turn, o)
	}
	o.queue = append(o.queue, d)
	l.size++
}

func (l *lanes) of(namespace string) *lane {
	found := l.known[namespace]
	if found == nil {
		found = &lane{namespace: namespace}
		l.known[namespace] = found
	}
	return found
}

// pop takes the next delivery whose namespace may hold another slot while so many are free; nil if there is
// none.
func (l *lanes) pop(free int) *delivery {
	at := slices.IndexFunc(l.turn, func(o *lane) bool { return o.may(free) })
	if at < 0 {
		return nil
	}
	chosen := l.turn[at]
	l.turn = slices.Delete(l.turn, at, at+1)
	d := chosen.queue[0]
	chosen.queue[0] = nil
	chosen.queue = chosen.queue[1:]
	l.size--
	if len(chosen.queue) > 0 {
		l.turn = append(l.turn, chosen)
	} else {
		chosen.queue = nil
	}
	return d
}

// any reports whether pop would find somebody.
func (l *lanes) any(free int) bool {
	return slices.ContainsFunc(l.turn, func(o *lane) bool { return o.may(free) })
}

func (o *lane) may(free int) bool { return o.held < max(1, crowd*free) }

// may reports whether a delivery's namespace may hold another slot while so many are free.
func (l *lanes) may(d *delivery, free int) bool {
	o := l.known[d.namespace]
	return o == nil || o.may(free)
}

// shed takes out those for whom waiting has become pointless because their namespace holds all the slots that it may
// while so many are free, from the end of each queue: they would keep others out of what the bus hands over. What was
// redelivered stays (tooLong says why). It reports whether any namespace is full.
func (l *lanes) shed(free int, patience, most time.Duration, each func(d *delivery, e entry)) (full bool) {
	now := l.clock.total
	for _, o := range l.turn {
		if o.may(free) {
			continue
		}
		full = true
		keep := o.bearable(now, o.held, patience)
		for at := len(o.queue) - 1; at >= 0 && len(o.queue) > keep; at-- {
			if d := o.queue[at]; !d.redelivered {
				o.queue = slices.Delete(o.queue, at, at+1)
				l.size--
				delay, exact := o.postpone(now, o.held, patience, most)
				each(d, entry{delay: delay, exact: exact})
			}
		}
	}
	l.turn = slices.DeleteFunc(l.turn, func(o *lane) bool { return len(o.queue) == 0 })
	return full
}

// remove takes out what is waiting and meant.
func (l *lanes) remove(which func(*delivery) bool) {
	for _, o := range l.turn {
		before := len(o.queue)
		o.queue = slices.DeleteFunc(o.queue, which)
		l.size -= before - len(o.queue)
		l.forget(o)
	}
	l.turn = slices.DeleteFunc(l.turn, func(o *lane) bool { return len(o.queue) == 0 })
}

// give counts a slot of the delivery's namespace.
func (l *lanes) give(d *delivery) {
	d.lane = l.of(d.namespace)
	d.lane.held++
}

// takeBack ends what give began.
func (l *lanes) takeBack(d *delivery) {
	o := d.lane
	d.lane = nil
	o.held--
	if d.calling {
		o.end(l.clock.total, d.calledAt, true)
	}
	l.forget(o)
}

// forget forgets a lane that holds nothing.
func (l *lanes) forget(o *lane) {
	if o.held == 0 && len(o.queue) == 0 {
		delete(l.known, o.namespace)
	}
}
