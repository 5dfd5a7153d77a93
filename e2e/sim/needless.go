package sim

import (
	"net/http"
	"slices"
)

// checkNeedless requires a reason for every answer that promises less than a plain success.
func (o *oracle) checkNeedless(s *opState) {
	switch {
	case !s.wasSent:
	case s.answer.status == http.StatusAccepted && !s.answer.unknown:
		// An ingest whose clock is not trusted answers 202.
		distrusts := func(f strike) bool {
			return f.kind == ClockJump && f.node < ingests && (s.op.Topic || f.node == s.op.Node)
		}
		if !o.struck(s, distrusts) {
			o.checkLate(s)
		}
	case s.op.Topic && s.answer.unknown: // the answer is "applied earlier"
		if !o.struck(s, func(f strike) bool { return f.node < ingests }) {
			o.broken("needless", "op %d was answered as applied earlier, and no fault occurred since it was sent at %v", s.op.ID, s.sent)
		}
	case s.answer.quota != "": // checkQuotas
	case s.answer.unknown || s.answer.refused:
		if !o.struck(s, func(f strike) bool { return f.node == s.op.Node }) {
			o.broken("needless", "op %d was answered %d, and no fault of its ingest occurred since it was sent at %v",
				s.op.ID, s.answer.status, s.sent)
		}
	}
}

// struck reports whether a fault took effect between an operation and its answer.
func (o *oracle) struck(s *opState, meets func(strike) bool) bool {
	return o.world.recording.anyStrike(s.sent, o.world.since(), meets)
}

// checkLate: "may have gone out" is true only if the old state was delivered, or was due by the clock of the ingest
// within the clock bound.
func (o *oracle) checkLate(s *opState) {
	const furthest = clockBound + clockBound/2 // an ingest's clock is ahead by at most half the bound
	mayHaveGone := func(other *opState) bool {
		return len(other.lives) > 0 || other.op.At+other.op.Soon <= o.world.since()+furthest
	}
	if !slices.ContainsFunc(o.ops, func(other *opState) bool { return o.mayBeReplaced(other, s) && mayHaveGone(other) }) {
		o.broken("needless", "op %d was answered 202, and no timer that it may have replaced can have been delivered", s.op.ID)
	}
}

// mayBeReplaced reports whether s may have found the state that another operation wrote. That is impossible if the
// other operation was answered before a third one began that was answered before s.
func (o *oracle) mayBeReplaced(other, s *opState) bool {
	sure := other.known && !other.answer.unknown
	if other == s || other.op.Timer != s.op.Timer || other.op.Verb == Delete || other.op.Verb.holds() || !other.wasSent || sure && !other.answer.applied() {
		return false
	}
	return !sure || !slices.ContainsFunc(o.ops, func(third *opState) bool {
		return third.op.Timer == s.op.Timer && !third.op.Verb.holds() && third != s && third != other && third.wasSent && third.known &&
			!third.answer.unknown && third.answer.applied() && other.at < third.sent && third.at < s.sent
	})
}
