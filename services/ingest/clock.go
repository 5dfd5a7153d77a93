package ingest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// errClock refuses writes. Due times are computed by the clock and are not before its time (I6), so by a clock that is
// ahead they would be late, and by one that is behind schedulers would have read past them.
var errClock = fmt.Errorf("%w: the clock is not trusted", store.ErrUnavailable)

// writeNow is the time by which rows are written, or errClock if it is uncertain.
func (s *Service) writeNow() (timer.Millis, error) {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	if !certain {
		return now, errClock
	}
	return now, nil
}

// writtenBy is a time after a write, from which is judged what may have gone out before it and what is due soon. If it is
// uncertain, anything may be: then it is Never (I8).
func (s *Service) writtenBy() timer.Millis {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	if !certain {
		return timer.Never
	}
	return now
}
