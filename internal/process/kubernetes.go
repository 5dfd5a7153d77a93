package process

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// serviceLinks are the forms of the variables that Kubernetes sets in every container for each service of its
// namespace: the name after EnvPrefix, and the value. The service is named timerbus or timerbus-…; an operator chooses
// the rest, so a list of names is not possible.
//
// The value is checked too: TIMERBUS_PORT=8080 is a mistaken setting of a user, because no such setting exists.
var serviceLinks = []struct {
	name  *regexp.Regexp
	value func(string) bool
}{
	{serviceLink(`SERVICE_HOST`), isAddress},
	{serviceLink(`SERVICE_PORT(_[A-Z0-9_]+)?`), isPort},
	{serviceLink(`PORT`), isEndpoint},
	{serviceLink(`PORT_[0-9]+_(TCP|UDP|SCTP)`), isEndpoint},
	{serviceLink(`PORT_[0-9]+_(TCP|UDP|SCTP)_PROTO`), isProtocol},
	{serviceLink(`PORT_[0-9]+_(TCP|UDP|SCTP)_PORT`), isPort},
	{serviceLink(`PORT_[0-9]+_(TCP|UDP|SCTP)_ADDR`), isAddress},
}

func serviceLink(form string) *regexp.Regexp {
	return regexp.MustCompile(`^([A-Z0-9_]*[A-Z0-9]_)?` + form + `$`)
}

// fromKubernetes reports whether Kubernetes has set the variable; rest is its name after EnvPrefix.
func fromKubernetes(rest, value string) bool {
	for _, link := range serviceLinks {
		if link.name.MatchString(rest) && link.value(value) {
			return true
		}
	}
	return false
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

func isProtocol(s string) bool { return slices.Contains([]string{"tcp", "udp", "sctp"}, s) }

// isEndpoint accepts a form such as tcp://10.0.0.1:80.
func isEndpoint(s string) bool {
	protocol, at, ok := strings.Cut(s, "://")
	_, err := netip.ParseAddrPort(at)
	return ok && err == nil && isProtocol(protocol)
}
