package egress

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func parse(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAddressesInURLs(t *testing.T) {
	for _, c := range []struct {
		allow   string
		url     string
		refused string // substring of the reason; empty: allowed
	}{
		{"", "https://example.com/hook", ""},
		{"", "http://93.184.215.14:8080/", ""},
		{"", "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", ""},
		{"", "http://127.0.0.1/", "loopback"},
		{"", "http://127.8.9.10:9000/", "loopback"},
		{"", "http://[::1]:9000/", "loopback"},
		{"", "http://[::ffff:127.0.0.1]/", "loopback"},
		{"", "http://localhost:9000/", "loopback"},
		{"", "http://LOCALHOST./", "loopback"},
		{"", "http://a.localhost/", "loopback"},
		{"", "http://10.1.2.3/", "private"},
		{"", "http://172.31.255.255/", "private"},
		{"", "http://192.168.0.1/", "private"},
		{"", "http://[fd00::1]/", "private"},
		{"", "http://169.254.169.254/latest/meta-data/", "metadata"},
		{"", "http://[fd00:ec2::254]/", "metadata"},
		{"", "http://169.254.1.1/", "link-local"},
		{"", "http://[fe80::1%25eth0]/", "link-local"},
		{"", "http://224.0.0.1/", "link-local"},
		{"", "http://239.1.1.1/", "multicast"},
		{"", "http://0.0.0.0/", "not a public"},
		{"", "http://[::]/", "not a public"},
		{"", "http://100.64.0.1/", "not a public"},
		{"", "http://198.51.100.7/", "not a public"},
		{"", "http://255.255.255.255/", "not a public"},
		{"", "http://[64:ff9b::7f00:1]/", "not a public"},
		// Forms that only some resolvers treat as addresses count as names, and are checked when they are resolved.
		{"", "http://127.1/", ""},
		{"", "http://2130706433/", ""},
		{"", "http://0x7f000001/", ""},

		{"loopback", "http://127.0.0.1:9000/", ""},
		{"loopback", "http://localhost/", ""},
		{"loopback", "http://[::1]/", ""},
		{"loopback", "http://[::ffff:127.0.0.1]/", ""},
		{"loopback", "http://10.0.0.1/", "private"},
		{"loopback", "http://169.254.169.254/", "metadata"},
		{"private", "http://10.0.0.1/", ""},
		{"private", "http://[fd12::1]/", ""},
		{"private", "http://[fd00:ec2::254]/", "metadata"},
		{"private", "http://127.0.0.1/", "loopback"},
		{" Loopback , 10.1.0.0/16 ", "http://10.1.255.1/", ""},
		{"loopback,10.1.0.0/16", "http://10.2.0.1/", "private"},
		{"10.1.2.3", "http://10.1.2.3/", ""},
		{"10.1.2.3", "http://10.1.2.4/", "private"},
		{"fd00:ec2::/32", "http://[fd00:ec2::254]/", ""},
		{"169.254.169.254", "http://169.254.169.254/", ""},
		{"", "http://168.63.129.16/machine?comp=goalstate", "metadata"},
		{"168.63.129.16", "http://168.63.129.16/", ""},
		{"private", "http://[fd20:ce::254]/", "metadata"},
		{"private", "http://[fd00:c1::a9fe:a9fe]/", "metadata"},
		{"private", "http://[fd00:ec2::23]/", "metadata"},
		{"", "http://100.100.100.200/", "metadata"},
		{"100.64.0.0/10", "http://100.100.100.200/", ""},
		{"64:ff9b::/96", "http://[64:ff9b::5db8:d80e]/", ""},
		{"64:ff9b::/96", "http://[64:ff9b::7f00:1]/", "loopback"},
		{"64:ff9b::/96", "http://[64:ff9b::a9fe:a9fe]/", "metadata"},
		{"64:ff9b::/96,private", "http://[64:ff9b::a00:1]/", ""},
		{"", "http://[2002:7f00:1::]/", "not a public"},
		{"", "http://[64:ff9b:1::7f00:1]/", "not a public"},
		// An allowed prefix allows the metadata addresses in it, and no others.
		{"10.0.0.0/8", "http://168.63.129.16/", "metadata"},
		{"10.0.0.0/8,169.254.1.0/24", "http://169.254.169.254/", "metadata"},
		{"fd00::/16", "http://[fd20:ce::254]/", "metadata"},
		{"168.63.129.0/28", "http://168.63.129.16/", "metadata"},
		{"168.63.129.0/24", "http://168.63.129.16/", ""},
		{"169.254.169.254", "http://168.63.129.16/", "metadata"},
		{"private,10.0.0.0/8", "http://[fd00:ec2::254]/", "metadata"},
		{"64:ff9b::/96", "http://[64:ff9b::a83f:8110]/", "metadata"},
		{"any", "http://169.254.169.254/", ""},
		{"any", "http://127.0.0.1/", ""},
	} {
		err := parse(t, c.allow).CheckURL("callbackUrl", c.url)
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%q: %s is refused: %v", c.allow, c.url, err)
		case c.refused != "" && err == nil:
			t.Errorf("%q: %s is allowed", c.allow, c.url)
		case c.refused != "":
			if _, ok := errors.AsType[*timer.InvalidError](err); !ok || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%q: %s: %v, want %q in it", c.allow, c.url, err, c.refused)
			}
		}
	}
}

// TestAllowedNames: a name in the policy allows every address that it resolves to, so it must match the whole name, and
// *.suffix whole labels.
func TestAllowedNames(t *testing.T) {
	for _, c := range []struct {
		allow, host string
		allowed     bool
	}{
		{"*.svc.example", "a.svc.example", true},
		{"*.svc.example", "a.b.svc.example", true},
		{"*.svc.example", "A.SVC.Example.", true},
		{"*.SVC.example", "a.svc.example", true},
		{"*.svc.example", "evilsvc.example", false},
		{"*.svc.example", "svc.example", false},
		{"*.svc.example", "a.svc.example.evil.test", false},
		{"*.svc.example", "a.svc.examples", false},
		{"*.svc.example", "a-svc.example", false},
		{"hooks.internal", "hooks.internal", true},
		{"hooks.internal", "HOOKS.internal.", true},
		{"hooks.internal", "a.hooks.internal", false},
		{"hooks.internal", "evilhooks.internal", false},
		{"hooks.internal", "hooks.internal.evil.test", false},
		{"hooks.internal", "internal", false},
		{"a.test,*.b.test", "x.b.test", true},
		{"a.test,*.b.test", "x.a.test", false},
	} {
		if got := parse(t, c.allow).names(c.host); got != c.allowed {
			t.Errorf("%q: every address of %s is allowed: %t, want %t", c.allow, c.host, got, c.allowed)
		}
	}
}

func TestTextsThatAreNoPolicies(t *testing.T) {
	for _, text := range []string{"10.0.0.0/33", "everything!", "loop back", "*", "*.", "127.1", "http://a", "a..b", "1.2.3.4:80", "fe80::1%eth0"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "callback-allow") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", ",", "any", "hooks.internal", "*.svc.cluster.local", "my_host", "::1", "[::1]", "fd00::/8"} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// listen starts a server; met reports whether a client has connected.
func listen(t *testing.T) (address string, met func() bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan struct{}, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connected <- struct{}{}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), func() bool {
		select {
		case <-connected:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	}
}

// The decisive check is made on the resolved address: a name that resolves to loopback is not connected to.
func TestDialling(t *testing.T) {
	address, met := listen(t)
	_, port, _ := net.SplitHostPort(address)
	d := &net.Dialer{Timeout: 5 * time.Second}
	for _, c := range []struct {
		allow, host string
		reached     bool
	}{
		{"", "127.0.0.1", false},
		{"", "localhost", false},
		{"private", "localhost", false},
		{"", "::ffff:127.0.0.1", false},
		{"loopback", "127.0.0.1", true},
		{"loopback", "localhost", true},
		{"localhost", "localhost", true},
		{"localhost", "127.0.0.1", false},
		{"*.localhost", "localhost", false},
		{"127.0.0.1", "localhost", true},
		{"any", "127.0.0.1", true},
	} {
		conn, err := parse(t, c.allow).Guard(d)(t.Context(), "tcp", net.JoinHostPort(c.host, port))
		if conn != nil {
			conn.Close()
		}
		if reached := err == nil; reached != c.reached {
			t.Errorf("%q: dialling %s: %v", c.allow, c.host, err)
		}
		if err != nil && (!errors.Is(err, ErrRefused) || errors.Is(err, ErrRefusedURL)) {
			t.Errorf("%q: dialling %s: %v is no refusal of a resolved address", c.allow, c.host, err)
		}
		if got := met(); got != c.reached {
			t.Errorf("%q: dialling %s reached the server: %t", c.allow, c.host, got)
		}
	}
	if d.Control != nil {
		t.Error("the dialer was changed")
	}
	// Other dial errors are returned unchanged.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parse(t, "loopback").Guard(d)(ended, "tcp", address); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
}

// resolver returns a resolver for which every name has one IPv4 address.
func resolver(a netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // no net.PacketConn, so messages have a length in front, as over TCP
		go func() {
			defer server.Close()
			var size [2]byte
			if _, err := io.ReadFull(server, size[:]); err != nil {
				return
			}
			m := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(server, m); err != nil {
				return
			}
			const header, typeA = 12, 1
			end := header + bytes.IndexByte(m[header:], 0) + 1 + 4 // the question: name, type and class
			asked := binary.BigEndian.Uint16(m[end-4:])
			m = m[:end]
			copy(m[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}) // an answer to one question, without records
			if asked == typeA {
				m[7] = 1
				record := []byte{0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4} // the name of the question, 60 s
				m = slices.Concat(m, record, a.AsSlice())
			}
			_, _ = server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(m))), m...))
		}()
		return client, nil
	}}
}

// TestDiallingNames: a name is not an address, so only the address to which it resolves can be refused.
func TestDiallingNames(t *testing.T) {
	address, met := listen(t)
	_, port, _ := net.SplitHostPort(address)
	d := &net.Dialer{Timeout: 5 * time.Second, Resolver: resolver(netip.MustParseAddr("127.0.0.1"))}
	for allow, want := range map[string]bool{"": false, "private": false, "loopback": true, "hooks.example": true, "*.example": true, "any": true} {
		conn, err := parse(t, allow).Guard(d)(t.Context(), "tcp", net.JoinHostPort("hooks.example", port))
		if conn != nil {
			conn.Close()
		}
		if want != (err == nil) || !want && (!errors.Is(err, ErrRefused) || errors.Is(err, ErrRefusedURL)) {
			t.Errorf("%q: dialling a name of loopback: %v", allow, err)
		}
		if got := met(); got != want {
			t.Errorf("%q: the server was reached: %t", allow, got)
		}
	}
}

func FuzzCheckHost(f *testing.F) {
	f.Add("127.0.0.1")
	f.Add("[::1]")
	f.Add("fe80::1%eth0")
	f.Add("a.localhost.")
	p, err := Parse("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host string) {
		err := p.CheckHost(host)
		addr, parseErr := netip.ParseAddr(host)
		if parseErr != nil {
			return
		}
		// CheckHost and the dialler decide in the same way about an address.
		dialled := p.control("tcp", net.JoinHostPort(addr.Unmap().String(), "80"), nil)
		if err != nil && !errors.Is(err, ErrRefusedURL) {
			t.Fatalf("%q: %v is no refusal of a URL", host, err)
		}
		if (err == nil) != (dialled == nil) {
			t.Fatalf("%q: %v at the door, %v when dialled", host, err, dialled)
		}
		if err == nil && (addr.Unmap().IsLoopback() || addr.Unmap().IsPrivate() || addr.Unmap().IsLinkLocalUnicast()) {
			t.Fatalf("%q is allowed", host)
		}
	})
}
