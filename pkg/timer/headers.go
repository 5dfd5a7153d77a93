package timer

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"net/textproto"
	"slices"
	"strings"
)

const (
	// MaxHeaders is the maximum number of extra headers of a timer or a namespace.
	MaxHeaders = 32
	// MaxHeaderBytes limits the names and values of all extra headers together, in bytes.
	MaxHeaderBytes = 4 << 10
)

// Headers are extra headers of a callback, as text: one line "Name: value" per header, with names in canonical form,
// sorted by name. A text can be compared and shared, and engines store it unchanged. The empty text has no headers.
// NewHeaders returns one.
type Headers string

// Header is one header of Headers.
type Header struct{ Name, Value string }

// The names that the callback protocol or the HTTP connection sets; users cannot set them.
var (
	ownHeaders = []string{
		"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
		"Http2-Settings", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "X-Correlation-Id",
	}
	ownPrefixes = []string{"Proxy-", "Timerbus-", "Webhook-"}
)

// NewHeaders checks and sorts headers.
func NewHeaders(fields []Header) (Headers, error) {
	if len(fields) > MaxHeaders {
		return "", Invalid("headers", fmt.Sprintf("%d headers", len(fields)), fmt.Sprintf("at most %d", MaxHeaders))
	}
	size := 0
	ordered := make([]Header, len(fields))
	for i, f := range fields {
		if err := f.check(); err != nil {
			return "", err
		}
		size += len(f.Name) + len(f.Value)
		ordered[i] = Header{textproto.CanonicalMIMEHeaderKey(f.Name), f.Value}
	}
	if size > MaxHeaderBytes {
		return "", Invalid("headers", fmt.Sprintf("%d bytes", size), fmt.Sprintf("at most %d bytes of names and values", MaxHeaderBytes))
	}
	slices.SortFunc(ordered, func(a, b Header) int { return cmp.Compare(a.Name, b.Name) })
	var text strings.Builder
	for i, f := range ordered {
		if i > 0 && f.Name == ordered[i-1].Name {
			return "", Invalid("headers", f.Name, "each name once (case-insensitive)")
		}
		text.WriteString(f.Name + ": " + f.Value + "\n")
	}
	return Headers(text.String()), nil
}

func (f Header) check() error {
	const wantName, longest = "a header name: 1 to 128 letters, digits and !#$%&'*+-.^_`|~", 128
	if f.Name == "" || len(f.Name) > longest || strings.ContainsFunc(f.Name, func(r rune) bool { return !tokenRune(r) }) {
		return Invalid("headers", f.Name, wantName)
	}
	// Receivers behind CGI or WSGI cannot distinguish an underscore from a hyphen.
	name := textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(f.Name, "_", "-"))
	if slices.Contains(ownHeaders, name) || slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return Invalid("headers", f.Name, "a name that the callback protocol does not set itself")
	}
	printable := !strings.ContainsFunc(f.Value, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') })
	if f.Value == "" || !printable || strings.Trim(f.Value, " \t") != f.Value {
		// The error does not contain the value, which may be a password.
		return Invalid("headers."+f.Name, hidden{}, "printable ASCII, not empty, without leading or trailing spaces")
	}
	return nil
}

// tokenRune reports whether a name may contain the character (RFC 9110, section 5.6.2).
func tokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// hidden is printed in place of a value that may be a secret.
type hidden struct{}

func (hidden) String() string { return "the given value" }

// All iterates over the headers in order.
func (h Headers) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for rest := string(h); rest != ""; {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			name, value, _ := strings.Cut(line, ": ")
			if !yield(name, value) {
				return
			}
		}
	}
}

// Get returns the value of a header by its canonical name; empty if there is none.
func (h Headers) Get(name string) string {
	for n, value := range h.All() {
		if n == name {
			return value
		}
	}
	return ""
}

// Map returns the headers by name; nil if there are none.
func (h Headers) Map() map[string]string {
	if h == "" {
		return nil
	}
	return maps.Collect(h.All())
}

// Check returns an error unless NewHeaders could have returned h.
func (h Headers) Check() error {
	if h == "" {
		return nil
	}
	var fields []Header
	for name, value := range h.All() {
		fields = append(fields, Header{name, value})
	}
	made, err := NewHeaders(fields)
	if err == nil && made != h {
		err = Invalid("headers", hidden{}, "one line per header, sorted by name")
	}
	return err
}
