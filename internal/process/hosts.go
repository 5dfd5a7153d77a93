package process

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Hosts are the hosts that a request may be addressed to: loopback names and addresses, the address of the listener,
// and the hosts of the setting. An HTTP server without a token checks them against DNS rebinding: a web page can let
// its host name resolve to 127.0.0.1, and the browser treats requests to that name as same-origin.
//
// A nil *Hosts accepts all hosts.
type Hosts struct {
	any       bool
	names     map[string]bool // lower case, without a trailing dot
	suffixes  []string        // of *.suffix, with the leading dot
	addresses map[netip.Addr]bool
}

const wantHosts = "host names (timers.internal, *.svc.example) and addresses (10.0.0.7) without ports, or any, separated by commas"

// ParseHosts parses the setting allowed-hosts.
func ParseHosts(text string) (*Hosts, error) {
	h := &Hosts{names: map[string]bool{"localhost": true}, suffixes: []string{".localhost"}, addresses: map[netip.Addr]bool{}}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		bare := strings.TrimSuffix(strings.TrimPrefix(part, "["), "]")
		address, err := netip.ParseAddr(bare)
		name, wild := strings.CutPrefix(part, "*.")
		name = strings.TrimSuffix(name, ".")
		switch {
		case part == "":
		case part == "any":
			h.any = true
		case err == nil:
			h.addresses[address.Unmap()] = true
		case !isHostName(name):
			return nil, timer.Invalid("allowed-hosts", part, wantHosts)
		case wild:
			h.suffixes = append(h.suffixes, "."+name)
		default:
			h.names[name] = true
		}
	}
	return h, nil
}

// isHostName reports whether a name consists of letters, digits, hyphens and underscores, separated by single dots.
func isHostName(name string) bool {
	if strings.Trim(name, "-") == "" {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// Listening adds the address of a listener and returns h. An unspecified address (0.0.0.0) adds nothing.
func (h *Hosts) Listening(address string) *Hosts {
	if at, err := netip.ParseAddrPort(address); err == nil && !at.Addr().IsUnspecified() {
		h.addresses[at.Addr().Unmap()] = true
	}
	return h
}

// Check returns an error that names the host of a request and the setting if the host is not accepted. It ignores the
// port, which may be forwarded.
func (h *Hosts) Check(host string) error {
	if h == nil || h.any {
		return nil
	}
	name := host
	if at, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			name = at
		}
	}
	if h.accepts(name) {
		return nil
	}
	return fmt.Errorf("requests to the host %q are not accepted without a token: want localhost, an address of this machine's loopback, "+
		"or a host of the setting --allowed-hosts (TIMERBUS_ALLOWED_HOSTS)", host)
}

func (h *Hosts) accepts(name string) bool {
	bare := name
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		bare = name[1 : len(name)-1]
	}
	if address, err := netip.ParseAddr(bare); err == nil {
		return address.Unmap().IsLoopback() || h.addresses[address.Unmap()]
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if !isHostName(name) {
		return false
	}
	if h.names[name] {
		return true
	}
	for _, suffix := range h.suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// Guard answers requests for hosts that are not accepted with 403.
func (h *Hosts) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Check(r.Host); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
