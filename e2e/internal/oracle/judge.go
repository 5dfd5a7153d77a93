package oracle

import (
	"fmt"
	"slices"
	"time"
)

// Verdict is the receiver's answer to a delivery.
type Verdict int

const (
	// Done ends the timer.
	Done Verdict = iota + 1
	// Failed requests another attempt.
	Failed
	// Again reschedules it to Delivery.NextAt.
	Again
	// Dead ends the timer without success.
	Dead
)

// Delivery is one callback, or fired event, as it arrived.
type Delivery struct {
	Timer     string
	Token     string // from the payload
	WebhookID string
	Attempt   int
	ExecuteAt time.Time // from the body
	At        time.Time // when it arrived
}

// Delivered checks a delivery after its arrival.
func (o *Oracle) Delivered(d *Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts.Deliveries++
	w := o.tokens[d.Token]
	switch {
	case w == nil:
		o.violation(&o.counts.Wrong, d, "has a payload that no client sent")
		return
	case w.timer.id != d.Timer:
		o.violation(&o.counts.Wrong, d, "has the payload of timer "+w.timer.id)
		return
	case w.state == refused:
		o.violation(&o.counts.Wrong, d, "belongs to a refused write")
	}
	o.judgeTime(w, d)
	o.judgeOrder(w, d)
	l := o.judgeRepetition(w, d)
	if len(l.attempts) == 0 && d.Attempt == 1 {
		late := d.At.Sub(d.ExecuteAt)
		if !o.killed.IsZero() && !d.ExecuteAt.Before(o.killed) {
			o.counts.Round.First++
			o.counts.Round.MaxLateness = max(o.counts.Round.MaxLateness, late)
		}
		if !o.down && d.ExecuteAt.After(o.restarted) {
			o.counts.MaxLateness = max(o.counts.MaxLateness, late)
		}
	}
	l.attempts[d.Attempt] = true
}

// Answered must be called immediately before the answer to a delivery is sent to a caller that still waits for it; next
// is the time requested by Again. A delivery without such an answer is still owed: its arrival is not enough, because
// its caller may have died.
func (o *Oracle) Answered(d *Delivery, v Verdict, next time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.tokens[d.Token]
	if w == nil || v == Failed {
		return
	}
	if l := w.life(d.WebhookID); l != nil {
		l.over = true
		l.again = l.again || v == Again
		if v != Again {
			l.end = v
		}
	}
	if v == Again {
		w.asked[next.UnixMilli()] = true
		o.horizon = latest(o.horizon, next)
		return
	}
	w.end, w.endedBy, w.endedAt = v, d.WebhookID, d.At
	if w.done {
		return
	}
	w.done = true
	o.counts.Fired++
	if !o.restarted.IsZero() && d.ExecuteAt.Before(o.restarted) && d.At.After(o.restarted) {
		o.counts.Recovered++
		o.counts.LastRecovered++
		o.counts.LastRecovery = max(o.counts.LastRecovery, d.At.Sub(o.restarted))
		o.counts.MaxRecovery = max(o.counts.MaxRecovery, o.counts.LastRecovery)
	}
}

// judgeTime checks that nothing is delivered before its time. The time in the body must have been requested; otherwise
// "early" would have no meaning.
func (o *Oracle) judgeTime(w *Write, d *Delivery) {
	if d.At.Before(d.ExecuteAt) {
		o.violation(&o.counts.Early, d, fmt.Sprintf("arrived %v before its due time", d.ExecuteAt.Sub(d.At)))
	}
	if !d.ExecuteAt.Equal(w.executeAt) && !w.askedFor(d.ExecuteAt) {
		o.violation(&o.counts.Wrong, d, fmt.Sprintf("has executeAt %v, requested was %v", d.ExecuteAt, w.executeAt))
	}
}

// heldUp is the maximum time that an answer may have been in flight or unread.
const heldUp = 15 * time.Second

// askedFor reports whether an answer requested the time. A time in the past is replaced by one second after the answer
// was read.
func (w *Write) askedFor(at time.Time) bool {
	if w.asked[at.UnixMilli()] {
		return true
	}
	for millis := range w.asked {
		late := at.Sub(time.UnixMilli(millis)) - time.Second
		if late >= 0 && late <= heldUp {
			return true
		}
	}
	return false
}

// judgeOrder checks that nothing is delivered after a delete, update or replace that was answered in time, and nothing
// long after a late one. The first write that was applied after w decides: it replaced w's state, and a later write promises
// nothing about that state. For example, a delivery may be in flight when a late delete is answered, and a create that follows is
// in time because it finds no timer. A write with an unknown outcome between the two may be such a late delete.
func (o *Oracle) judgeOrder(w *Write, d *Delivery) {
	unknown := false
	for _, later := range w.timer.writes[w.index+1:] {
		switch after := d.At.Sub(later.answeredAt); {
		case later.state != applied:
			unknown = unknown || later.state == perhaps
			continue
		case later.inTime && !unknown && after > 0:
			o.violation(&o.counts.After, d, fmt.Sprintf("arrived %v after write %d of the timer was answered as in time", after, later.index))
		case after > LateGrace:
			o.violation(&o.counts.After, d, fmt.Sprintf("arrived %v after write %d of the timer was answered", after, later.index))
		}
		return
	}
}

// judgeInTime: an update or delete of a state that has been delivered was not in time. After a reschedule the state is
// a new one, and after a write with unknown outcome it is not known which state it is.
func (o *Oracle) judgeInTime(w *Write) {
	for _, before := range slices.Backward(w.timer.writes[:w.index]) {
		if before.state == refused {
			continue
		}
		if before.state == applied && len(before.lives) == 1 && !before.lives[0].again {
			o.violation(&o.counts.After, &Delivery{Timer: w.timer.id, Token: before.token, WebhookID: before.lives[0].id, At: w.answeredAt},
				fmt.Sprintf("write %d was answered as in time, but the delivery had arrived before", w.index))
		}
		return
	}
}

// judgeRepetition: a webhook-id that was delivered before is a duplicate unless this is its next attempt. A new
// webhook-id requires that the answer to the previous one rescheduled the timer.
func (o *Oracle) judgeRepetition(w *Write, d *Delivery) *life {
	if l := w.life(d.WebhookID); l != nil {
		if l.over || l.attempts[d.Attempt] {
			o.counts.Duplicates++
			o.counts.Round.Duplicates++
		}
		return l
	}
	for _, l := range w.lives {
		if !l.again {
			o.violation(&o.counts.Unattributable, d, "repeats "+l.id+" under another webhook-id")
			break
		}
	}
	l := &life{id: d.WebhookID, attempts: map[int]bool{}}
	w.lives = append(w.lives, l)
	return l
}

func (w *Write) life(webhookID string) *life {
	for _, l := range w.lives {
		if l.id == webhookID {
			return l
		}
	}
	return nil
}

// maxKept bounds the number of violations that are described.
const maxKept = 20

func (o *Oracle) violation(count *int, d *Delivery, what string) {
	*count++
	if len(o.counts.Violations) < maxKept {
		o.counts.Violations = append(o.counts.Violations,
			fmt.Sprintf("delivery of %s, token %s, webhook-id %s, attempt %d, at %s: %s",
				d.Timer, d.Token, d.WebhookID, d.Attempt, d.At.UTC().Format(time.StampMilli), what))
	}
}
