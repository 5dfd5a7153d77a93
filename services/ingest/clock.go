package ingest

import (
	"errors"

	"github.com/timerbus/timerbus/pkg/timer"
)

// errClock refuses writes. Ingest computes due times from the clock, and none is before the present (I6). If the clock
// were ahead, timers would be late; if it were behind, schedulers might already have read later keys and miss them.
var errClock = errors.New("the clock is not trusted")

// writeNow returns the time for written rows, or errClock if the clock is uncertain.
func (s *Service) writeNow() (timer.Millis, error) {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	if !certain {
		return now, errClock
	}
	return now, nil
}

// timeAfterWrite returns a time after a write that has just ended. A timer that is due by then may have been delivered
// before the write. If the clock is uncertain, it returns Never (I8).
func (s *Service) timeAfterWrite() timer.Millis {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	if !certain {
		return timer.Never
	}
	return now
}
