package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/timerbus/timerbus/pkg/timer"
)

// ErrRefused is wrapped by every error about a callback to a forbidden destination.
var ErrRefused = errors.New("refused by this service's policy")

// ErrRefusedURL wraps ErrRefused. It is the error if the URL itself contains the refused address, so that another DNS
// answer cannot change the result.
var ErrRefusedURL = fmt.Errorf("%w", ErrRefused)

// Keywords of a policy's text.
const (
	// Loopback allows the loopback addresses of this machine.
	Loopback = "loopback"
	// Private allows the private networks of RFC 1918 and RFC 4193.
	Private = "private"
	// Any allows all addresses.
	Any = "any"
)

// Want describes the text of a policy, for messages.
const Want = "loopback, private, any, addresses (10.1.2.3), prefixes (10.0.0.0/8) and " +
	"host names (hooks.internal, *.svc.example), separated by commas"

// Policy decides to which hosts and addresses callbacks may go. Public addresses are always allowed. It is safe for
// concurrent use.
type Policy struct {
	any      bool
	guardian *ssrf.Guardian
	hosts    map[string]bool // lower case; every address that they resolve to is allowed
	suffixes []string        // of *.suffix, with the dot
	named    []netip.Prefix  // addresses and prefixes in the text, without those of the keywords
}

// isMetadata reports whether a is the address of a cloud provider's metadata service, from which machines get
// credentials and configuration. Such addresses are link-local, private or even public, and are allowed only if the
// policy names them explicitly.
func isMetadata(a netip.Addr) bool {
	switch a.String() {
	case "169.254.169.254", // most providers
		"fd00:ec2::254",      // Amazon
		"fd00:ec2::23",       // Amazon, for pods
		"fd20:ce::254",       // Google
		"fd00:c1::a9fe:a9fe", // Oracle
		"168.63.129.16",      // Azure
		"100.100.100.200":    // Alibaba
		return true
	default:
		return false
	}
}

// nat64 is the prefix in which translators embed IPv4 addresses in IPv6 (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// Parse parses the text of a policy. The empty text allows only public addresses.
func Parse(text string) (*Policy, error) {
	p := &Policy{hosts: map[string]bool{}}
	var v4, v6 []netip.Prefix
	allow := func(prefixes ...string) {
		for _, s := range prefixes {
			prefix := netip.MustParsePrefix(s)
			if prefix.Addr().Is4() {
				v4 = append(v4, prefix)
			} else {
				v6 = append(v6, prefix)
			}
		}
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		switch part {
		case "":
		case Loopback:
			allow("127.0.0.0/8", "::1/128")
		case Private:
			allow("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
		case Any:
			p.any = true
		default:
			prefix, host, err := parsePart(part)
			switch {
			case err != nil:
				return nil, err
			case host != "":
				p.allowHost(host)
			case prefix.Addr().Is4():
				v4 = append(v4, prefix)
				p.named = append(p.named, prefix)
			default:
				v6 = append(v6, prefix)
				p.named = append(p.named, prefix)
			}
		}
	}
	p.guardian = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return p, nil
}

func (p *Policy) allowHost(name string) {
	if suffix, wild := strings.CutPrefix(name, "*"); wild {
		p.suffixes = append(p.suffixes, suffix)
		return
	}
	p.hosts[name] = true
}

// parsePart parses a prefix, an address or a host name.
func parsePart(part string) (netip.Prefix, string, error) {
	if prefix, err := netip.ParsePrefix(part); err == nil {
		return prefix.Masked(), "", nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(part, "[]")); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), "", nil
	}
	name := strings.TrimPrefix(part, "*.")
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return netip.Prefix{}, "", timer.Invalid("callback-allow", part, Want)
		}
	}
	if strings.Trim(name, "0123456789.") == "" {
		// Some resolvers treat 127.1 as an address, others as a name.
		return netip.Prefix{}, "", timer.Invalid("callback-allow", part, Want)
	}
	return netip.Prefix{}, part, nil
}

// CheckURL returns a *timer.InvalidError for the field if the URL in it can never be allowed, because its host is a refused address
// and not a name. Names are checked when they are resolved, at every delivery.
func (p *Policy) CheckURL(field, raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return timer.Invalid(field, raw, "a URL")
	}
	if why := p.CheckHost(u.Hostname()); why != nil {
		return timer.Invalid(field, raw,
			fmt.Sprintf("a host that callbacks may go to; %v (setting callback-allow)", why))
	}
	return nil
}

// CheckHost returns why a host in a URL is refused; nil if it is allowed or is a name that must be resolved. The error
// wraps ErrRefusedURL.
func (p *Policy) CheckHost(host string) error {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if p.any || p.names(host) {
		return nil
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		// It resolves to loopback everywhere (RFC 6761).
		return p.refusesAddr(netip.AddrFrom4([4]byte{127, 0, 0, 1}), ErrRefusedURL)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return nil //nolint:nilerr // host is a name, not an address
	}
	return p.refusesAddr(addr, ErrRefusedURL)
}

// names reports whether the policy allows a host name regardless of its addresses.
func (p *Policy) names(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if p.hosts[host] {
		return true
	}
	for _, suffix := range p.suffixes {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

// refusesAddr returns an error that wraps sentinel if the address is refused.
func (p *Policy) refusesAddr(addr netip.Addr, sentinel error) error {
	addr = addr.Unmap() // IPv4-mapped IPv6 addresses are reached over IPv4
	named := func(prefix netip.Prefix) bool { return prefix.Contains(addr) }
	if p.guardian.SafeAddr(addr) != nil || isMetadata(addr) && !slices.ContainsFunc(p.named, named) {
		return fmt.Errorf("%w: %v is %s", sentinel, addr, kind(addr))
	}
	if nat64.Contains(addr) {
		// A policy that allows the translation prefix does not allow every IPv4 address in it.
		bytes := addr.As16()
		return p.refusesAddr(netip.AddrFrom4([4]byte(bytes[12:])), sentinel)
	}
	return nil
}

// kind describes why an address is not public.
func kind(a netip.Addr) string {
	switch {
	case a.IsLoopback():
		return "a loopback address"
	case isMetadata(a):
		return "a metadata service's address"
	case a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast():
		return "a link-local address"
	case a.IsPrivate():
		return "a private address"
	case a.IsMulticast():
		return "a multicast address"
	default:
		return "not a public address"
	}
}
