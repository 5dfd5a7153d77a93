package testclock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// fileName is the file in a data folder that contains the offset. It exists once the clock was moved.
const fileName = "test-clock.json"

// maxOffset bounds how far a Clock may be ahead of the machine's clock.
const maxOffset = 100 * 365 * 24 * time.Hour

// Clock is the machine's clock and an offset. Its wall clock advances with the machine's monotonic clock, so a step of the
// machine's wall clock does not change it.
type Clock struct {
	machine store.Machine
	began   time.Time // the machine's wall clock when its monotonic clock showed 0
	file    string    // "" for none

	mu     sync.Mutex
	offset time.Duration
}

// state is the content of the file.
type state struct {
	// Offset is a duration that timer.ParseDuration accepts.
	Offset string `json:"offset"`
}

// New returns a clock that shows the machine's time.
func New() *Clock {
	machine := store.ThisMachine()
	wall, elapsed := machine()
	return &Clock{machine: machine, began: wall.Add(-elapsed).Round(0)}
}

// Open returns the clock of a data folder. If a clock was moved in this folder, it continues with the same offset.
func Open(folder string) (*Clock, error) {
	c := New()
	offset, err := read(folder)
	if err != nil {
		return nil, err
	}
	c.offset, c.file = offset, filepath.Join(folder, fileName)
	return c, nil
}

// Check returns an error if a test clock was moved in a data folder, because its timers and its history have times that the
// machine's clock has not reached.
func Check(folder string) error {
	offset, err := read(folder)
	if err == nil && offset != 0 {
		err = fmt.Errorf("data folder %s was used with a test clock that is %s ahead of this machine's clock: "+
			"start with --test-clock, or choose another folder with --data", folder, timer.FormatDuration(offset.Round(time.Second)))
	}
	return err
}

// read returns the offset in a folder, 0 for none.
func read(folder string) (time.Duration, error) {
	path := filepath.Join(folder, fileName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a store refuses a folder that is none
		return 0, nil
	}
	var s state
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	var offset time.Duration
	if err == nil {
		offset, err = timer.ParseDuration(s.Offset)
	}
	if err == nil && (offset < 0 || offset > maxOffset) {
		err = timer.Invalid("offset", s.Offset, fmt.Sprintf("0s to %v", maxOffset))
	}
	if err != nil {
		return 0, fmt.Errorf("read the test clock's offset from %s: %w", path, err)
	}
	return offset, nil
}

// Machine returns the clock's time and the machine's monotonic clock. It is a store.Machine.
func (c *Clock) Machine() (wall time.Time, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, elapsed = c.machine()
	return c.began.Add(elapsed + c.offset), elapsed
}

// Now returns the clock's time. It is a timer.Clock.
func (c *Clock) Now() timer.Millis {
	wall, _ := c.Machine()
	return timer.FromTime(wall)
}

// Offset returns how far the clock is ahead of the machine's clock at its start.
func (c *Clock) Offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset
}

// Real returns the machine's time at a time of this clock, by the present offset.
func (c *Clock) Real(at timer.Millis) timer.Millis { return at.Add(-c.Offset()) }

// forward moves the clock to a time, and does nothing if the clock has passed it. First it writes the offset to the file, so
// that the clock of the next process shows no earlier time than this one, unless the machine's clock was set back or a power
// failure has undone the write, which is not synced.
func (c *Clock) forward(to timer.Millis) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, elapsed := c.machine()
	by := to.Time().Sub(c.began.Add(elapsed + c.offset))
	if by <= 0 {
		return nil
	}
	if c.file != "" {
		if err := write(c.file, c.offset+by); err != nil {
			return fmt.Errorf("write the test clock's offset to %s: %w", c.file, err)
		}
	}
	c.offset += by
	return nil
}

// write replaces the file.
func write(path string, offset time.Duration) error {
	text, err := json.Marshal(state{Offset: offset.String()})
	if err != nil {
		return err
	}
	next := path + ".new"
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}
