package timer

import "time"

// ExpiredError begins the error of a dead timer that was not delivered because it had expired. No other error begins with it.
const ExpiredError = "expired: "

// MaxExpireAfter is the longest ExpireAfter.
const MaxExpireAfter = 10 * 365 * 24 * time.Hour

// ExpiresAt returns the instant from which on the timer is not delivered, Never without an ExpireAfter.
func (s *Spec) ExpiresAt() Millis {
	if s.ExpireAfter == 0 {
		return Never
	}
	return s.ExecuteAt.Add(s.ExpireAfter)
}

// Expired reports whether no attempt may begin at the time: the timer has expired, or its first attempt would begin later than
// MaxAttemptsDuration allows, or a resume skips it. limit is then the name of the field that says so, or "overdue: skip".
func (t *Timer) Expired(now Millis) (limit string, expired bool) {
	switch d := t.Retry.MaxAttemptsDuration; {
	case t.Skip:
		return "overdue: skip", true
	case now >= t.ExpiresAt():
		return "expireAfter", true
	case d > 0 && t.Attempts == 0 && now >= t.ExecuteAt.Add(d):
		return "maxAttemptsDuration", true
	default:
		return "", false
	}
}

func (s *Spec) checkExpiry() error {
	if d := s.ExpireAfter; d < 0 || d > MaxExpireAfter || d%time.Millisecond != 0 {
		return Invalid("expireAfter", d, `"1ms" to "87600h"`)
	}
	return nil
}
