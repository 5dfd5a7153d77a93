package sim

import (
	"net/http"
	"slices"
)

// checkNeedless: an answer that promises less than a plain success needs a reason.
func (o *oracle) checkNeedless(s *opState) {
	switch {
	case !s.wasSent:
	case s.answer.status == http.StatusAccepted && !s.answer.unknown:
		// An ingest whose clock is not trusted promises nothing.
		distrusts := func(f strike) bool {
			return f.kind == ClockJump && f.node < ingests && (s.op.Topic || f.node == s.op.Node)
		}
		if !o.struck(s, distrusts) {
			o.checkLate(s)
		}
	case s.op.Topic && s.answer.unknown: // it says "applied earlier"
		if !o.struck(s, func(f strike) bool { return f.node < ingests }) {
			o.broken("needless", "op %d was answered as applied earlier, and nothing had failed since it was sent at %v", s.op.ID, s.sent)
		}
	case s.answer.unknown || s.answer.refused:
		if !o.struck(s, func(f strike) bool { return f.node == s.op.Node }) {
			o.broken("needless", "op %d was answered %d, and nothing had failed on its ingest since it was sent at %v",
				s.op.ID, s.answer.status, s.sent)
		}
	}
}

// struck reports whether a fault took effect between an operation and its answer.
func (o *oracle) struck(s *opState, meets func(strike) bool) bool {
	return o.world.recording.anyStrike(s.sent, o.world.since(), meets)
}

// checkLate: "may have gone out" is true only of a state that was delivered, or whose time had come by the clock of the
// ingest, give or take the clock bound.
func (o *oracle) checkLate(s *opState) {
	const furthest = clockBound + clockBound/2 // an ingest's clock is ahead by half the bound at most
	mayHaveGone := func(other *opState) bool {
		return len(other.lives) > 0 || other.op.At+other.op.Soon <= o.world.since()+furthest
	}
	if !slices.ContainsFunc(o.ops, func(other *opState) bool { return o.mayBeReplaced(other, s) && mayHaveGone(other) }) {
		o.broken("needless", "op %d was answered 202, and no timer that it may have found can have gone out", s.op.ID)
	}
}

// mayBeReplaced reports whether a state that an operation wrote may be the one that s found. It is not if the operation
// was answered before a third one began that was answered before s.
func (o *oracle) mayBeReplaced(other, s *opState) bool {
	sure := other.known && !other.answer.unknown
	if other == s || other.op.Timer != s.op.Timer || other.op.Verb == Delete || !other.wasSent || sure && !other.answer.applied() {
		return false
	}
	return !sure || !slices.ContainsFunc(o.ops, func(third *opState) bool {
		return third.op.Timer == s.op.Timer && third != s && third != other && third.wasSent && third.known &&
			!third.answer.unknown && third.answer.applied() && other.at < third.sent && third.at < s.sent
	})
}
