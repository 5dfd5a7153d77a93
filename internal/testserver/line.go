package testserver

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Line forwards the connections between one client and its servers, so that a test can cut them. A client uses it by
// Dial, as its dialer, or by the address that Listen returns.
type Line struct {
	done sync.WaitGroup

	listeners []net.Listener

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	refuse bool
	hold   chan struct{} // if not nil, no bytes are forwarded until it is closed
	loss   loss
}

// loss closes a connection on which the client sends text: before the server gets it, or when the server answers.
type loss struct {
	text   []byte
	answer bool
}

// NewLine returns a line without connections. Close ends it.
func NewLine() *Line { return &Line{conns: map[net.Conn]struct{}{}} }

// errRefused is the error of a new connection after Kill.
var errRefused = errors.New("the test refuses connections")

// Dial connects to a server. During Isolate it waits, at most 2 s.
func (l *Line) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if hold := l.held(); hold != nil {
		timeout := time.NewTimer(2 * time.Second)
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
	server, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	client, ours := net.Pipe()
	if !l.forward(ours, server) {
		return nil, errRefused
	}
	return client, nil
}

// Listen forwards connections to a server until Close, and returns the address for them. It connects to the server until
// ctx ends.
func (l *Line) Listen(ctx context.Context, server string) (address string, err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	l.listeners = append(l.listeners, listener)
	l.done.Go(func() {
		var dialer net.Dialer
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			if conn, err := dialer.DialContext(ctx, "tcp", server); err == nil {
				l.forward(client, conn)
			} else {
				_ = client.Close()
			}
		}
	})
	return listener.Addr().String(), nil
}

// forward copies in both directions until one side ends. It closes both connections and returns false after Kill.
func (l *Line) forward(client, server net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse {
		_, _ = client.Close(), server.Close()
		return false
	}
	l.conns[client], l.conns[server] = struct{}{}, struct{}{}
	var lost atomic.Bool // the next answer is lost
	l.done.Go(func() { l.copy(client, server, func([]byte) bool { return !lost.Load() }) })
	l.done.Go(func() {
		l.copy(server, client, func(data []byte) bool {
			found, answer := l.loses(data)
			lost.CompareAndSwap(false, found && answer)
			return !found || answer
		})
	})
	return true
}

// copy forwards data until one side ends, or pass returns false for data.
func (l *Line) copy(to, from net.Conn, pass func(data []byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if hold := l.held(); hold != nil {
			<-hold
		}
		if n > 0 {
			if !pass(buffer[:n]) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *Line) held() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hold
}

// Isolate delays every byte, in both directions, until Heal. Neither side notices.
func (l *Line) Isolate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		l.hold = make(chan struct{})
	}
}

// Heal ends Isolate.
func (l *Line) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil {
		close(l.hold)
		l.hold = nil
	}
}

// Lose closes the connection on which the client next sends data that contains text: when the server answers, or, if answer
// is false, before the server gets it. It happens once.
func (l *Line) Lose(text string, answer bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loss = loss{[]byte(text), answer}
}

func (l *Line) loses(data []byte) (found, answer bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.loss.text) == 0 || !bytes.Contains(data, l.loss.text) {
		return false, false
	}
	answer = l.loss.answer
	l.loss = loss{}
	return true, answer
}

// Cut closes the connections. The client may connect again.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}

// Kill closes the connections, as the kernel does for a killed process, and refuses new ones until Revive.
func (l *Line) Kill() {
	l.mu.Lock()
	l.refuse = true
	l.mu.Unlock()
	l.Cut()
}

// Revive lets the client connect again.
func (l *Line) Revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = false
}

// Close closes the connections and waits until nothing is forwarded.
func (l *Line) Close() {
	l.Kill()
	l.Heal()
	for _, listener := range l.listeners {
		_ = listener.Close()
	}
	l.done.Wait()
}
