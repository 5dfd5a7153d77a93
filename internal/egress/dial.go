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

// Guard returns a function that dials with d and fails with an error that wraps ErrRefused if the policy refuses the
// address. It checks the resolved address before connecting, so a name that resolves to a different address than at an
// earlier check does not bypass the policy. d is not changed.
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

// control is the Control function of a net.Dialer.
func (p *Policy) control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is not an address", ErrRefused, address)
	}
	return p.refusesAddr(target.Addr(), ErrRefused)
}
