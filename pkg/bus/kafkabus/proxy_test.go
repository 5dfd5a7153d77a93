package kafkabus_test

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// line forwards between one process and the brokers, so that a test can disconnect the process. It is the dialer of
// all the process's clients, whatever address the brokers advertise.
type line struct {
	done sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	refuse bool
	hold   chan struct{} // if not nil, no bytes are forwarded until it is closed
}

func newLine() *line { return &line{conns: make(map[net.Conn]struct{})} }

func (l *line) option() kgo.Opt { return kgo.Dialer(l.dial) }

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	hold := l.hold
	l.mu.Unlock()
	if hold != nil {
		timeout := time.NewTimer(2 * time.Second) // the same as Options sets for the client's dialer
		defer timeout.Stop()
		select {
		case <-hold:
		case <-timeout.C:
			return nil, os.ErrDeadlineExceeded
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var dialer net.Dialer
	broker, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	process, ours := net.Pipe()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse {
		_ = broker.Close()
		return nil, errors.New("cut off")
	}
	l.conns[broker], l.conns[ours] = struct{}{}, struct{}{}
	l.done.Go(func() { l.copy(ours, broker) })
	l.done.Go(func() { l.copy(broker, ours) })
	return process, nil
}

func (l *line) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		l.mu.Lock()
		hold := l.hold
		l.mu.Unlock()
		if hold != nil {
			<-hold
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// isolate delays every byte, in both directions, until heal: neither side notices.
func (l *line) isolate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		l.hold = make(chan struct{})
	}
}

func (l *line) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil {
		close(l.hold)
		l.hold = nil
	}
}

// cut drops the connections; the process may connect again.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}

// kill drops the connections permanently, as the kernel does for a killed process.
func (l *line) kill() {
	l.mu.Lock()
	l.refuse = true
	l.mu.Unlock()
	l.cut()
}

// revive lets the process connect again.
func (l *line) revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = false
}

func (l *line) close() {
	l.kill()
	l.heal()
	l.done.Wait()
}
