package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// DialFunc connects to host:port.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Guard returns a function that dials by d and gives up on an address that the policy refuses, after its name
// was resolved and before anything is sent there: a name that meant another address a moment ago does not
// help. It wraps ErrRefused then. d is not changed.
func (p *Policy) Guard(d *net.Dialer) DialFunc {
	guarded := *d
	guarded.Control = p.control
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err == nil && (p.any || p.names(host)) {
			return d.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
}

// control is net.Dialer's.
func (p *Policy) control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is not an address", ErrRefused, address)
	}
	return p.refusesAddr(target.Addr(), ErrRefused)
}
