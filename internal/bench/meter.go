package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is the resource usage of a process.
type Usage struct {
	// CPU is the processor time since the process began, user and kernel.
	CPU time.Duration
	// Memory is the resident memory in bytes.
	Memory int64
}

// Meter reads the resource usage of the service.
type Meter interface {
	Read(ctx context.Context) (Usage, error)
}

// Process reads the usage of a process on this machine from /proc, by its process id. This costs the process nothing.
type Process int

// clockTick is the unit of times in /proc/PID/stat, the same on every Linux.
const clockTick = 10 * time.Millisecond

// Read implements Meter.
func (p Process) Read(context.Context) (Usage, error) {
	folder := "/proc/" + strconv.Itoa(int(p))
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return Usage{}, fmt.Errorf("usage of process %d: %w", p, err)
	}
	statm, err := os.ReadFile(folder + "/statm")
	if err != nil {
		return Usage{}, fmt.Errorf("usage of process %d: %w", p, err)
	}
	return parseUsage(string(stat), string(statm))
}

func parseUsage(stat, statm string) (Usage, error) {
	// The second field is the program's name in parentheses, which may contain spaces and parentheses.
	fields := strings.Fields(behind(stat, ')')) // from the third field on
	pages := strings.Fields(statm)
	if len(fields) < 13 || len(pages) < 2 {
		return Usage{}, fmt.Errorf("usage: cannot parse /proc: %q, %q", stat, statm)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	resident, err3 := strconv.ParseInt(pages[1], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Usage{}, fmt.Errorf("usage: %w", err)
	}
	return Usage{CPU: time.Duration(user+system) * clockTick, Memory: resident * int64(os.Getpagesize())}, nil
}

// behind returns the part of s after the last separator, or s if there is none.
func behind(s string, separator byte) string { return s[strings.LastIndexByte(s, separator)+1:] }

// Exposition reads the service's metrics endpoint, wherever the service runs.
type Exposition struct{ Target *Target }

// Read implements Meter.
func (e Exposition) Read(ctx context.Context) (Usage, error) {
	page, err := e.Target.get(ctx, "/metrics")
	if err != nil {
		return Usage{}, err
	}
	seconds, memory := metric(page, "process_cpu_seconds_total"), metric(page, "process_resident_memory_bytes")
	if seconds == 0 && memory == 0 {
		return Usage{}, errors.New("usage: the service's metrics do not include its processor time")
	}
	return Usage{CPU: time.Duration(seconds * float64(time.Second)), Memory: int64(memory)}, nil
}

// metric returns the sum of all series with a name.
func metric(page []byte, name string) (sum float64) {
	for line := range bytes.Lines(page) {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		if !ok || len(rest) == 0 || (rest[0] != ' ' && rest[0] != '{') {
			continue
		}
		if value, err := strconv.ParseFloat(behind(strings.TrimSpace(string(rest)), ' '), 64); err == nil {
			sum += value
		}
	}
	return sum
}
