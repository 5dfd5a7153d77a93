package schedule

import (
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Gap says what happens to a local time that a change of the zone's offset skips.
type Gap string

// Overlap says what happens to a local time that a change of the zone's offset repeats.
type Overlap string

const (
	// GapNext moves a skipped occurrence to the first instant after the gap. It is the default.
	GapNext Gap = "next"
	// GapSkip leaves it out.
	GapSkip Gap = "skip"
	// OverlapFirst uses the first of two instants. It is the default.
	OverlapFirst Overlap = "first"
	// OverlapBoth uses both.
	OverlapBoth Overlap = "both"
)

// Remark says that a policy applied to an occurrence.
type Remark string

const (
	// RemarkGap: the local time does not exist, so the occurrence is at the first instant after the gap.
	RemarkGap Remark = "gap"
	// RemarkFirst and RemarkSecond: the local time exists twice.
	RemarkFirst  Remark = "first"
	RemarkSecond Remark = "second"
)

// period is a time in which a zone has one offset.
type period struct {
	from, until time.Time // until is zero if the offset stays
	offset      time.Duration
	before      time.Duration // the offset before from; the same as offset if there was none
}

// periodAt returns the period of a zone that contains an instant.
func periodAt(zone *time.Location, at time.Time) period {
	at = at.In(zone)
	_, seconds := at.Zone()
	p := period{offset: time.Duration(seconds) * time.Second}
	p.from, p.until = at.ZoneBounds()
	if !p.until.IsZero() && !p.until.After(at) {
		// On the last day of a leap year after the last change in the zone's data, ZoneBounds of Go 1.26 returns an end that has passed.
		// No zone changes then.
		p.until = at.Add(time.Hour)
	}
	p.before = p.offset
	if !p.from.IsZero() {
		p.from = beginOf(p.from, at, seconds)
		_, seconds = p.from.Add(-time.Nanosecond).Zone()
		p.before = time.Duration(seconds) * time.Second
	}
	return p
}

// beginOf returns the begin of the period of an instant, whose offset is so many seconds. After the last change in a zone's data,
// ZoneBounds of Go 1.26 returns the begin of the year, although the last change may have been in this year, such as that of
// America/Metlakatla on 20 January 2019.
func beginOf(from, at time.Time, seconds int) time.Time {
	for {
		_, offset := from.Zone()
		_, end := from.ZoneBounds()
		if offset == seconds || end.IsZero() || end.After(at) || !end.After(from) {
			return from
		}
		from = end
	}
}

// toLocal returns the local time of an instant in the period.
func (p *period) toLocal(at time.Time) local { return at.UTC().Add(p.offset) }

func (p *period) toInstant(at local) time.Time { return at.Add(-p.offset) }

// moment is an instant with the reason why it is not simply that of its local time.
type moment struct {
	at     time.Time
	remark Remark
}

// nextIn returns the first instant of a rule after the instant after, by the policies.
func nextIn(zone *time.Location, r rule, after time.Time, gap Gap, overlap Overlap) (moment, bool) {
	p := periodAt(zone, after.Add(time.Millisecond))
	for {
		m, later, found := p.first(r, after, gap, overlap)
		if found {
			return m, true
		}
		if p.until.IsZero() {
			return moment{}, false
		}
		following := periodAt(zone, p.until)
		if overlap == OverlapFirst || following.offset >= p.offset { // otherwise it repeats local times, perhaps the rule's last one
			if later.IsZero() {
				return moment{}, false
			}
			// Periods before the next local time of the rule have none, and no local time is 24 hours away from its instant.
			if early := later.Add(-24 * time.Hour); early.After(p.until) {
				following = periodAt(zone, early)
			}
		}
		p = following
	}
}

// first returns the first instant of a rule after the instant after, in the period. If there is none, it returns the rule's next local
// time, or a zero time.
func (p *period) first(r rule, after time.Time, gap Gap, overlap Overlap) (m moment, later local, found bool) {
	begin := time.Time{} // the local time from which the period's count
	if !p.from.IsZero() {
		begin = p.toLocal(p.from)
		// Local times before end were in the period before.
		end := p.from.UTC().Add(p.before)
		if gap == GapNext && end.Before(begin) && p.from.After(after) {
			if skipped, ok := r.after(end.Add(-time.Nanosecond)); ok && skipped.Before(begin) {
				return moment{p.from.UTC(), RemarkGap}, local{}, true
			}
		}
		if overlap == OverlapFirst && begin.Before(end) {
			begin = end
		}
	}
	from := p.toLocal(after)
	if from.Before(begin) {
		from = begin.Add(-time.Nanosecond)
	}
	at, ok := r.after(from)
	if !ok {
		return moment{}, local{}, false
	}
	instant := p.toInstant(at)
	if !p.until.IsZero() && !instant.Before(p.until) {
		return moment{}, at, false
	}
	return moment{instant, p.remark(instant)}, local{}, true
}

// remark says whether the local time of an instant in the period exists twice.
func (p *period) remark(at time.Time) Remark {
	if !p.from.IsZero() && at.Sub(p.from) < p.before-p.offset {
		return RemarkSecond
	}
	if !p.until.IsZero() {
		_, seconds := p.until.Zone()
		if p.until.Sub(at) <= p.offset-time.Duration(seconds)*time.Second {
			return RemarkFirst
		}
	}
	return ""
}

// millis returns an instant, rounded up to a millisecond.
func millis(at time.Time) timer.Millis {
	return timer.Millis(at.Add(time.Millisecond - time.Nanosecond).UnixMilli())
}
