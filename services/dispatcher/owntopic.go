package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// The common topic is the service's, and what it does not take for the moment is no fault of the timer's, which is
// postponed. A topic of a user's own is like a receiver: what it does not take is a failed attempt, tried again by
// the timer's policy, and in the end dead with the reason. It may be missing for ever.

// allow judges the timer's topic by its namespace, which may have changed since the create. nil lets it go on.
func (s *Service) allow(d *delivery) *attemptResult {
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	ns, err := s.config.Directory.Lookup(ctx, d.row.Namespace)
	if err == nil && !ns.Settings.EventTopics.Allow(d.row.Topic) {
		// It may just have been allowed.
		ns, err = s.config.Directory.Renew(ctx, d.row.Namespace)
	}
	switch {
	case err != nil:
		return &attemptResult{postpone: true, circuit: errUntried, Verdict: callback.Verdict{Reason: err.Error()}}
	case ns.Settings.EventTopics.Allow(d.row.Topic):
		return nil
	default:
		return &attemptResult{circuit: errUntried, Verdict: callback.Verdict{Kind: callback.Dead, Reason: notAllowed(&ns, d.row.Topic)}}
	}
}

func notAllowed(ns *store.Namespace, topic string) string {
	const shown = 200
	allows := "none"
	if all := strings.Join(ns.Settings.EventTopics.List(), ", "); all != "" {
		allows = all[:min(len(all), shown)]
		if len(all) > shown {
			allows += "…"
		}
	}
	return fmt.Sprintf("event to topic %q: namespace %q does not allow it any more; it allows %s", topic, ns.Name, allows)
}

// fireOwn publishes the fired event to the timer's topic.
func (s *Service) fireOwn(d *delivery, m bus.Message) (attemptResult, error) {
	err := s.own.send(bus.Own(d.row.Topic), m)
	if err != nil && s.ending(err) {
		return attemptResult{}, err
	}
	if err != nil {
		return attemptResult{Verdict: s.judgeOwn(d, err)}, nil
	}
	return attemptResult{Verdict: callback.Verdict{Kind: callback.Done}}, nil
}

// callAndFireOwn makes the callback and publishes to the timer's topic at the same time. The attempt succeeds if
// both do: an event that the topic did not take is not lost because the receiver was content. Of two failures, the
// callback's tells more.
func (s *Service) callAndFireOwn(d *delivery, m bus.Message) (attemptResult, error) {
	published := make(chan error, 1)
	go func() { published <- s.own.send(bus.Own(d.row.Topic), m) }()
	result, err := s.call(d)
	refused := <-published
	switch {
	case err != nil:
		return result, err
	case refused == nil || result.Kind != callback.Done && result.Kind != callback.Rescheduled:
		return result, nil
	case s.ending(refused):
		return attemptResult{}, refused
	}
	status := result.Status
	result.Verdict = s.judgeOwn(d, refused)
	result.Status = status
	return result, nil
}

// judgeOwn says what becomes of a timer whose topic did not take its event.
func (s *Service) judgeOwn(d *delivery, refused error) callback.Verdict {
	reason := fmt.Sprintf("event to topic %q: %v", d.row.Topic, refused)
	v := callback.Fail(&d.row, reason, s.config.Clock(), s.random)
	if errors.Is(refused, bus.ErrUnsupported) {
		// The bus can have no topic of this name.
		v.Kind, v.NextAt = callback.Dead, timer.Millis(0)
	}
	return v
}

// ending reports whether a failure is the service's end, which says nothing about the topic.
func (s *Service) ending(err error) bool { return errors.Is(err, bus.ErrClosed) || s.life.Err() != nil }
