//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// startTimeout is long enough for a Kafka broker on a busy machine. A broker needs seconds of processor time to
	// start, and after a kill it waits until its previous session has expired (9 s).
	startTimeout = 2 * time.Minute
	stopTimeout  = 20 * time.Second
	pollInterval = 20 * time.Millisecond
	logTail      = 4096 // bytes of a log shown when its process fails
)

// program describes the program of a process, and how to stop it and to know that it is ready.
type program struct {
	// name is unique among all processes; the control server uses it.
	name string
	path string
	args []string
	env  []string // in addition to PATH, HOME and so on
	// folder is the working folder; if empty, the site's.
	folder string
	// quit is the signal for a graceful stop; SIGTERM if zero.
	quit syscall.Signal
	// ready is called repeatedly with the process id until it returns nil.
	ready func(ctx context.Context, pid int) error
}

// process is a program that can be started, killed and started again.
type process struct {
	program

	log string // file

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
}

// run starts a program as the unprivileged user and returns when it is ready.
func (s *site) run(ctx context.Context, what program) error {
	if what.folder == "" {
		what.folder = s.folder
	}
	if what.quit == 0 {
		what.quit = syscall.SIGTERM
	}
	p := &process{program: what, log: filepath.Join(s.folder, what.name+".log")}
	s.mu.Lock()
	s.processes = append(s.processes, p)
	s.mu.Unlock()
	return p.start(ctx)
}

// once runs a program to its end.
func (s *site) once(ctx context.Context, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // recipes name the program
	if err := prepare(cmd); err != nil {
		return err
	}
	cmd.Dir = s.folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", path, err, out)
	}
	return nil
}

// copyBinary copies a program into the folder of this run. The user who runs servers may not be able to access the cache.
func (s *site) copyBinary(cached string) (string, error) {
	text, err := os.ReadFile(cached)
	if err != nil {
		return "", fmt.Errorf("copy %s: %w", cached, err)
	}
	binary := filepath.Join(s.folder, filepath.Base(cached))
	//nolint:gosec // the user who runs servers runs it
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		return "", fmt.Errorf("copy %s: %w", cached, err)
	}
	return binary, nil
}

// prepare configures a command to run as the unprivileged user.
func prepare(cmd *exec.Cmd) error {
	who, err := unprivileged()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = childAttributes()
	cmd.SysProcAttr.Credential = who
	if who != nil {
		cmd.Env = append(os.Environ(), "HOME=/nonexistent", "USER=nobody")
	}
	return nil
}

func (p *process) start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.running() {
		return fmt.Errorf("%s is running", p.name)
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log of %s: %w", p.name, err)
	}
	defer log.Close()                      //nolint:errcheck // the process has its own handle
	cmd := exec.Command(p.path, p.args...) //nolint:gosec,noctx // recipes name the program; it outlives the context in which it is started
	if err := prepare(cmd); err != nil {
		return err
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, p.env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.folder, log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	ended := make(chan struct{})
	p.cmd, p.ended = cmd, ended
	go func() {
		_ = cmd.Wait() // the result does not matter
		close(ended)
	}()
	return p.await(ctx)
}

func (p *process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := p.ready(ctx, p.cmd.Process.Pid)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended (%s):\n%s", p.name, p.cmd.ProcessState, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w (%w):\n%s", p.name, err, context.Cause(ctx), p.tail())
		case <-tick.C:
		}
	}
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop sends quit to the process, and kills it after stopTimeout.
func (p *process) stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || !p.running() {
		return nil
	}
	family := append(descendants(p.cmd.Process.Pid), p.cmd.Process.Pid)
	// A frozen process ignores all other signals.
	send(family, syscall.SIGCONT)
	send([]int{p.cmd.Process.Pid}, p.quit)
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopTimeout):
	}
	send(family, syscall.SIGKILL)
	<-p.ended
	return fmt.Errorf("%s did not end within %s and was killed:\n%s", p.name, stopTimeout, p.tail())
}

// kill ends the process and all its descendants immediately, like a power failure.
func (p *process) kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || !p.running() {
		return fmt.Errorf("%s is not running", p.name)
	}
	family := append([]int{p.cmd.Process.Pid}, descendants(p.cmd.Process.Pid)...)
	send(family, syscall.SIGKILL)
	<-p.ended
	// A restarted process must not use the same files as a surviving child of this one.
	for deadline := time.Now().Add(stopTimeout); slices.ContainsFunc(family, alive); {
		if time.Now().After(deadline) {
			return fmt.Errorf("children of %s still run after kill -9", p.name)
		}
		time.Sleep(pollInterval)
	}
	return nil
}

// freeze suspends the process and its descendants; thaw continues them.
func (p *process) freeze() error { return p.tell(syscall.SIGSTOP) }
func (p *process) thaw() error   { return p.tell(syscall.SIGCONT) }

func (p *process) tell(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || !p.running() {
		return fmt.Errorf("%s is not running", p.name)
	}
	send(append([]int{p.cmd.Process.Pid}, descendants(p.cmd.Process.Pid)...), s)
	return nil
}

// send sends a signal to processes. Errors are ignored, because a process may have ended.
func send(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s)
	}
}

// descendants finds all descendants in /proc; without /proc it finds none.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, file := range stats {
		id, parent, _, ok := readStat(file)
		if ok {
			children[parent] = append(children[parent], id)
		}
	}
	var out []int
	for next := children[pid]; len(next) > 0; {
		out = append(out, next[0])
		next = append(next[1:], children[next[0]]...)
	}
	return out
}

// alive reports whether a process runs. A zombie does not run.
func alive(pid int) bool {
	_, _, state, ok := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	return ok && state != "Z" && state != "X"
}

func readStat(file string) (pid, parent int, state string, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, "", false
	}
	// "pid (name) state parent …"; a name may contain any character, so find its end from the end of the text.
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0, 0, "", false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 2 {
		return 0, 0, "", false
	}
	pid, pidErr := strconv.Atoi(filepath.Base(filepath.Dir(file)))
	parent, parentErr := strconv.Atoi(fields[1])
	return pid, parent, fields[0], errors.Join(pidErr, parentErr) == nil
}

// tail returns the end of the process's log.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}

// connect connects to a server. The deadline of ctx also bounds reads and writes.
func connect(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if until, bounded := ctx.Deadline(); bounded {
		if err := conn.SetDeadline(until); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// answersOK returns nil if a request is answered with 200. token may be empty.
func answersOK(ctx context.Context, client *http.Client, url, token string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, logTail))
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %s: %s", url, response.Status, text)
}
