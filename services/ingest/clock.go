package ingest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// errClock refuses writes. Due times are computed by the clock and are not before its time (I6). If the clock were ahead,
// timers would be late; if it were behind, schedulers might have read past them.
var errClock = fmt.Errorf("%w: the clock is not trusted", store.ErrUnavailable)

// writeNow is the time by which rows are written, or errClock if it is uncertain.
func (s *Service) writeNow() (timer.Millis, error) {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	if !certain {
		return now, errClock
	}
	return now, nil
}

// writtenBy returns a time after a write that has just ended: what is due by then may have been delivered before the write.
// It is Never if the clock is uncertain (I8).
func (s *Service) writtenBy() timer.Millis {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	if !certain {
		return timer.Never
	}
	return now
}
