package backend

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
)

// SetStoreCredentials makes new connections to the store use a user and password.
func (b *Backend) SetStoreCredentials(user *url.Userinfo) {
	if s, ok := store.As[store.Credentials](b.Store); ok {
		s.SetCredentials(user)
	}
}

// SetBusCredentials makes new connections to the bus use a user and password, or a token.
func (b *Backend) SetBusCredentials(user *url.Userinfo) {
	if s, ok := bus.As[bus.Credentials](b.Bus); ok {
		s.SetCredentials(user)
	}
}

// Rotated compares the URL of a store, bus or proxy that is in use with a changed one. If they differ only in the user or the
// password (on NATS also a token), it returns the new ones. Otherwise the error names the other differences, without their values.
func Rotated(before, after string) (*url.Userinfo, error) {
	a, b := split(before), split(after)
	if a == nil || b == nil {
		return nil, errors.New("the address")
	}
	var other []string
	for _, part := range []struct {
		name          string
		before, after string
	}{
		{"the scheme", a.scheme, b.scheme},
		{"the host", a.hosts, b.hosts},
		{"the path", a.path, b.path},
	} {
		if part.before != part.after {
			other = append(other, part.name)
		}
	}
	for _, query := range []url.Values{a.query, b.query} {
		for name := range query {
			if text := "the parameter " + name; !slices.Equal(a.query[name], b.query[name]) && !slices.Contains(other, text) {
				other = append(other, text)
			}
		}
	}
	slices.Sort(other)
	// The parameters of PostgreSQL override the user and password before the host.
	overridden := a.query.Has("user") || a.query.Has("password")
	switch {
	case len(other) > 0:
	case !a.hasUser || !b.hasUser, a.hasPassword != b.hasPassword:
		other = append(other, "whether it has a user and a password")
	case overridden:
		other = append(other, "the user or password, which the parameters override")
	default:
		return b.user, nil
	}
	return nil, errors.New(strings.Join(other, ", "))
}

// parts are those of a URL, which may have several hosts with ports.
type parts struct {
	scheme, hosts, path  string
	query                url.Values
	user                 *url.Userinfo
	hasUser, hasPassword bool
}

// split returns nil if raw has no host or cannot be parsed.
func split(raw string) *parts {
	scheme, rest, isURL := strings.Cut(raw, "://")
	rest, query, _ := strings.Cut(rest, "?")
	address, path, _ := strings.Cut(rest, "/")
	credentials, hosts, hasUser := cutLast(address, "@")
	p := &parts{scheme: strings.ToLower(scheme), hosts: hosts, path: path, hasUser: hasUser}
	var err error
	// An @ in the query may be from a password that contains a question mark, and so may be the names of parameters.
	if p.query, err = url.ParseQuery(query); err != nil || !isURL || hosts == "" || strings.Contains(query, "@") {
		return nil
	}
	if hasUser {
		parsed, err := url.Parse("any://" + credentials + "@host")
		if err != nil {
			return nil
		}
		p.user = parsed.User
		_, p.hasPassword = p.user.Password()
	}
	return p
}
