package decode

import (
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	defaultMoveTimeout = time.Minute
	// MaxMoveTimeout is the largest timeout of a move of the test clock.
	MaxMoveTimeout = 10 * time.Minute
)

// ClockAdvance is the body of clock/advance.
type ClockAdvance struct {
	By, Timeout time.Duration
}

// ReadClockAdvance decodes the body of clock/advance.
func ReadClockAdvance(body []byte) (ClockAdvance, error) {
	a, given := ClockAdvance{Timeout: defaultMoveTimeout}, false
	err := members(body, []string{"by", "timeout"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "by":
			given = true
			a.By, err = readDuration(name, v)
		default:
			a.Timeout, err = readMoveTimeout(name, v)
		}
		return err
	})
	if err == nil && !given {
		err = timer.Invalid("by", missing{}, `a duration such as "72h" or "30d"`)
	}
	return a, err
}

// ClockSet is the body of clock/set.
type ClockSet struct {
	Time    timer.Millis
	Timeout time.Duration
}

// ReadClockSet decodes the body of clock/set.
func ReadClockSet(body []byte) (ClockSet, error) {
	s, given := ClockSet{Timeout: defaultMoveTimeout}, false
	err := members(body, []string{"time", "timeout"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "time":
			given = true
			s.Time, err = readInstant(name, v)
		default:
			s.Timeout, err = readMoveTimeout(name, v)
		}
		return err
	})
	if err == nil && !given {
		err = timer.Invalid("time", missing{}, wantExecuteAt)
	}
	return s, err
}

func readMoveTimeout(field string, v value) (time.Duration, error) {
	d, err := readDuration(field, v)
	if err == nil && (d == 0 || d > MaxMoveTimeout) {
		err = timer.Invalid(field, raw(v), `"1ms" to "10m"`)
	}
	return d, err
}
