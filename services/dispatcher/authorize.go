package dispatcher

import (
	"context"
	"errors"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// authorize sets the header Authorization of a delivery by the namespace's settings. It returns the result of the attempt
// if there is no token, and an error if the service ended before it got one.
//
// If the token endpoint is not available, the timer is postponed and uses no attempt: an outage says nothing about the
// timer. If the endpoint refuses the request, the attempt fails, so that users see why, and the retry policy ends the
// timers of a client that no longer exists. Neither says anything about the host of the callback.
//
// A timer that is changed or expires while a token is requested is not delivered. If the token expires while the timer is checked
// again, the timer is postponed, because the receiver would refuse the callback. The token has its own time limit, so a slow
// token endpoint leaves the receiver the whole callback timeout.
func (s *Service) authorize(d *delivery, profile *callback.Profile) (*attemptResult, error) {
	if profile.Tokens == nil {
		d.authorization = profile.Authorization
		return nil, nil //nolint:nilnil // nil means that the callback can be made
	}
	began := s.stopwatch.Elapsed()
	token, err := profile.Tokens.Get(s.life, "")
	var refused *attemptResult
	if err == nil {
		d.setToken(token)
		if refused = s.checkAgain(d, began, &d.startedAt); refused == nil && !profile.Tokens.Valid(token) {
			why := callback.Verdict{Reason: "the token expired while the timer was checked again"}
			refused = &attemptResult{postpone: true, host: admission.Untried, Verdict: why}
		}
		d.notCalled = refused != nil
	}
	switch {
	case s.life.Err() != nil:
		return nil, errStopped
	case err == nil:
		return refused, nil
	}
	if failure, ok := errors.AsType[*callback.TokenError](err); ok && failure.Refused {
		d.notCalled = true
		verdict := callback.Fail(&d.row, "not called: "+err.Error(), s.timeForOutcome(d), s.random)
		return &attemptResult{host: admission.Untried, Verdict: verdict}, nil
	}
	return &attemptResult{postpone: true, persistent: true, host: admission.Untried, Verdict: callback.Verdict{Reason: err.Error()}}, nil
}

// checkedFor is how long a row check is valid. A token in memory takes less, a request of a token takes longer.
const checkedFor = time.Millisecond

// checkAgain repeats the checks of a delivery that has waited since began: a client may have changed the timer (I7), and it may
// have expired (I18). It returns the result of the attempt if the callback must not be made, and otherwise sets now.
func (s *Service) checkAgain(d *delivery, began time.Duration, now *timer.Millis) *attemptResult {
	if s.stopwatch.Elapsed()-began < checkedFor {
		return nil
	}
	at := s.timeForOutcome(d)
	row, ok := s.readRow(s.life, checkOf(d), false)
	t := &row.Timer
	if !ok || !row.Found || t.Generation != d.row.Generation || t.Attempts != d.row.Attempts ||
		t.Status.Held() || t.PlannedAt != d.row.PlannedAt { // a pause and a resume change the planned time
		// The write of the postponement misses a row that has changed.
		why := callback.Verdict{Reason: "the timer could not be checked again"}
		return &attemptResult{postpone: true, host: admission.Untried, Verdict: why}
	}
	at = max(at, s.config.Clock()) // the read may have taken long
	if v, expired := callback.Expired(t, at); expired {
		return &attemptResult{host: admission.Untried, Verdict: v}
	}
	*now = at
	return nil
}

func (d *delivery) setToken(token string) { d.token, d.authorization = token, "Bearer "+token }

// renewToken gets another token, after the receiver has refused the present one. It returns when the callback can be repeated; ok
// is false if it cannot: the answer of the receiver then is the result of the attempt.
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

// newTokens returns the tokens of a namespace's client. It logs when they become unavailable and available again.
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
				log.Info("token of callbacks issued again")
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
			log.Warn("no token for callbacks of the namespace", "reason", logged)
		}
	}
	return callback.NewTokens(fetch, s.config.TokenTimeout, s.stopwatch.Elapsed, observe)
}
