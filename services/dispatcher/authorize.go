package dispatcher

import (
	"context"
	"errors"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// authorize sets the header Authorization of a delivery by the namespace's settings. It returns nil if the callback can be made,
// otherwise the result of the attempt. The error is errStopped, if the service has ended.
//
// If the token endpoint is not available, the timer is postponed and uses no attempt: an outage says nothing about the
// timer. If the endpoint refuses the request, the attempt fails, so that users see why, and the retry policy ends the
// timers of a client that no longer exists. Neither says anything about the host of the callback.
//
// A timer that is changed or expires while a token is requested is not delivered. If the token expires while the timer is checked
// again, the timer is postponed, because the receiver would refuse the callback. The same applies to a token that a later request
// has replaced, because a receiver may have refused it. A request of a token has a separate timeout (Config.TokenTimeout), so a slow
// token endpoint leaves the receiver the whole callback timeout.
func (s *Service) authorize(d *delivery, profile *callback.Profile) (*attemptResult, error) {
	if profile.Tokens == nil {
		d.authorization = profile.Authorization
		return nil, nil //nolint:nilnil // nil means that the callback can be made
	}
	began := s.stopwatch.Elapsed()
	token, err := profile.Tokens.Get(s.life, "")
	var result *attemptResult
	if err == nil {
		d.setToken(token)
		if result = s.checkAgain(d, began, &d.startedAt); result == nil && !profile.Tokens.Valid(token) {
			why := callback.Verdict{Reason: "the token expired or was replaced while the timer was checked again"}
			result = &attemptResult{postpone: true, host: admission.Untried, Verdict: why}
		}
		d.notCalled = result != nil
	}
	switch {
	case s.life.Err() != nil:
		return nil, errStopped
	case err == nil:
		return result, nil
	}
	if failure, ok := errors.AsType[*callback.TokenError](err); ok && failure.Refused {
		d.notCalled = true
		verdict := callback.Fail(&d.row, "not called: "+err.Error(), s.timeForOutcome(d), s.random)
		return &attemptResult{host: admission.Untried, Verdict: verdict}, nil
	}
	return &attemptResult{postpone: true, persistent: true, host: admission.Untried, Verdict: callback.Verdict{Reason: err.Error()}}, nil
}

// recheckAfter is the wait for a token after which a timer is checked again. Tokens.Get returns a token from memory sooner; a
// request of a token takes longer.
const recheckAfter = time.Millisecond

// checkAgain repeats the checks of a delivery that has waited for a token since began: a client may have changed the timer (I7), and
// it may have expired (I18). It returns the result of the attempt if the callback must not be made. Otherwise it returns nil and sets
// startsAt to the present. After a wait of less than recheckAfter it returns nil and sets nothing.
func (s *Service) checkAgain(d *delivery, began time.Duration, startsAt *timer.Millis) *attemptResult {
	if s.stopwatch.Elapsed()-began < recheckAfter {
		return nil
	}
	at := s.timeForOutcome(d)
	row, ok := s.readRow(s.life, checkOf(d), false)
	t := &row.Timer
	// The revision is not compared, because the delivery may have leased its row. A lease changes none of these fields.
	if !ok || !row.Found || t.Generation != d.row.Generation || t.Attempts != d.row.Attempts ||
		t.Status.Held() || t.PlannedAt != d.row.PlannedAt { // a pause and a resume change the planned time
		// The write of the postponement misses a row that has changed.
		why := callback.Verdict{Reason: "the timer has changed or could not be read"}
		return &attemptResult{postpone: true, host: admission.Untried, Verdict: why}
	}
	at = max(at, s.config.Clock()) // the read may have taken long
	if v, expired := callback.Expired(t, at); expired {
		return &attemptResult{host: admission.Untried, Verdict: v}
	}
	*startsAt = at
	return nil
}

func (d *delivery) setToken(token string) { d.token, d.authorization = token, "Bearer "+token }

// renewToken gets another token, after the receiver has refused the present one. If ok is true, the callback can be repeated, and at
// is the time of the repetition. Otherwise the answer of the receiver is the result of the attempt.
func (s *Service) renewToken(d *delivery, profile *callback.Profile) (at timer.Millis, ok bool) {
	began := s.stopwatch.Elapsed()
	token, err := profile.Tokens.Get(s.life, d.token)
	if err != nil || token == d.token {
		return 0, false
	}
	d.setToken(token)
	at = s.timeForOutcome(d)
	ok = s.checkAgain(d, began, &at) == nil && profile.Tokens.Valid(token)
	return at, ok
}

// newTokens returns the tokens of a namespace's client. It logs a failed request, unless the previous one failed for the same reason,
// and the first successful request after failures.
func (s *Service) newTokens(namespace string, c callback.Credentials, p *callback.Profile) *callback.Tokens {
	fetch := func(context.Context) (callback.Token, error) {
		return callback.Token{}, &callback.TokenError{Refused: true, Reason: "this process cannot request tokens"}
	}
	if client, ok := s.config.Caller.(callback.TokenClient); ok {
		fetch = client.TokenFetcher(c, p)
	}
	log := s.config.Logger.With("namespace", namespace)
	var logged string // observe is not called concurrently
	observe := func(err error) {
		failure, _ := errors.AsType[*callback.TokenError](err)
		switch {
		case err == nil:
			s.metrics.tokens.WithLabelValues("issued").Inc()
			if logged != "" {
				log.Info("token for callbacks issued again")
			}
			logged = ""
			return
		case s.life.Err() != nil:
			return
		case failure != nil && failure.Refused:
			s.metrics.tokens.WithLabelValues("refused").Inc()
		default:
			s.metrics.tokens.WithLabelValues("unavailable").Inc()
		}
		if logged != err.Error() {
			logged = err.Error()
			log.Warn("request of a token for callbacks failed", "reason", logged)
		}
	}
	return callback.NewTokens(fetch, s.config.TokenTimeout, s.stopwatch.Elapsed, observe)
}
