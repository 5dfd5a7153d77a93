package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a child process. It ends with this program, even if that is killed.
type Process struct {
	name    string
	command *exec.Cmd
	ended   chan struct{} // closed when it has ended and all its output is in screen
	screen  screen
}

// Start runs the binary. Its error output goes to stderr if that is not nil.
func Start(name, binary string, stderr io.Writer, args ...string) (*Process, error) {
	//nolint:gosec,noctx // the path of the binary is an argument; the process is stopped with a signal.
	p := &Process{name: name, command: exec.Command(binary, args...), ended: make(chan struct{})}
	p.screen.changed = make(chan struct{})
	p.command.Env = ownEnvironment(os.Environ())
	p.command.Stdout, p.command.Stderr = &p.screen, &p.screen
	if stderr != nil {
		p.command.Stderr = stderr
	}
	p.command.SysProcAttr = ownGroup()
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait() // ProcessState has the result
	}()
	return p, nil
}

// ownEnvironment removes a developer's settings of Timerbus.
func ownEnvironment(environ []string) []string {
	var kept []string
	for _, v := range environ {
		if !strings.HasPrefix(v, "TIMERBUS_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// stopPatience is how long a child may take to stop in an orderly way.
const stopPatience = 20 * time.Second

// Stop stops the process, and kills it if it does not end in time.
func (p *Process) Stop() error {
	if p.over() {
		return nil
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	patience := time.NewTimer(stopPatience)
	defer patience.Stop()
	select {
	case <-p.ended:
		return nil
	case <-patience.C:
		err := p.command.Process.Kill()
		<-p.ended
		return errors.Join(fmt.Errorf("%s did not stop within %v", p.name, stopPatience), err)
	}
}

func (p *Process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// See waits until the output of the process matches the pattern, and returns its groups.
func (p *Process) See(ctx context.Context, pattern *regexp.Regexp) ([]string, error) {
	for {
		text, changed := p.screen.text()
		if found := pattern.FindStringSubmatch(text); found != nil {
			return found, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-p.ended:
			text, _ := p.screen.text()
			if pattern.MatchString(text) {
				continue
			}
			return nil, fmt.Errorf("%s ended (%v): %s", p.name, p.command.ProcessState, text)
		}
	}
}

// Output returns what the process has written, up to a bound.
func (p *Process) Output() string {
	text, _ := p.screen.text()
	return text
}

// PID returns the process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Finish waits until a process has ended by itself, and returns its output.
func (p *Process) Finish(ctx context.Context) (string, error) {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), p.Stop())
	}
	text, _ := p.screen.text()
	if !p.command.ProcessState.Success() {
		return "", fmt.Errorf("%s: %v", p.name, p.command.ProcessState)
	}
	return text, nil
}

// screen has the output of a process, up to a bound.
type screen struct {
	mu      sync.Mutex
	written strings.Builder
	changed chan struct{}
}

const maxScreen = 4 << 20

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := maxScreen - s.written.Len(); room > 0 {
		s.written.Write(p[:min(len(p), room)])
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

func (s *screen) text() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String(), s.changed
}
