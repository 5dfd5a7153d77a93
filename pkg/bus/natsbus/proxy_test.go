package natsbus_test

import (
	"net"
	"sync"
)

// proxy forwards between one member and the server, so that a test can disconnect the member.
type proxy struct {
	listener net.Listener
	target   string
	done     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	refuse bool
	hold   chan struct{} // if not nil, no bytes are forwarded until it is closed
}

func newProxy(target string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: target, conns: make(map[net.Conn]struct{})}
	p.done.Go(p.accept)
	return p, nil
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil || !p.admit(client, server) {
			_ = client.Close()
			if server != nil {
				_ = server.Close()
			}
			continue
		}
		p.done.Go(func() { p.copy(client, server) })
		p.done.Go(func() { p.copy(server, client) })
	}
}

func (p *proxy) admit(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse {
		return false
	}
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return true
}

func (p *proxy) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		hold := p.hold
		p.mu.Unlock()
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
func (p *proxy) isolate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold == nil {
		p.hold = make(chan struct{})
	}
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold != nil {
		close(p.hold)
		p.hold = nil
	}
}

// cut drops the connections; the client may connect again.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// kill drops the connections permanently, as the kernel does for a killed process.
func (p *proxy) kill() {
	p.mu.Lock()
	p.refuse = true
	p.mu.Unlock()
	p.cut()
}

func (p *proxy) close() {
	p.kill()
	p.heal()
	_ = p.listener.Close()
	p.done.Wait()
}

// revive lets the client connect again.
func (p *proxy) revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = false
}
