package host

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the unit of times in /proc/stat.
const clockTick = 10 * time.Millisecond

// Spent is the processor time used until a time.
type Spent struct {
	At time.Time
	// Machine is the time of all processes, ours that of this process and its ended children.
	Machine, ours time.Duration
}

// SpentUntilNow reads both times. Without /proc it leaves machine at 0.
func SpentUntilNow() (Spent, error) {
	s := Spent{At: time.Now()}
	text, err := os.ReadFile("/proc/stat")
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if s.Machine, err = busy(string(text)); err != nil {
		return s, err
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			return s, err
		}
		s.ours += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return s, nil
}

// busy returns the time during which processors were not idle, from /proc/stat.
func busy(stat string) (time.Duration, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, errors.New("read /proc/stat: no line with the times of all processors")
	}
	var ticks int64
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		if i != 3 && i != 4 { // idle, and idle while waiting for I/O
			ticks += n
		}
	}
	return time.Duration(ticks) * clockTick, nil
}

// OthersSince returns the average number of processors that other processes kept busy.
func (s Spent) OthersSince(before Spent) float64 {
	others := (s.Machine - before.Machine) - (s.ours - before.ours)
	return max(0, others.Seconds()/s.At.Sub(before.At).Seconds())
}
