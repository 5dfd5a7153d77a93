package event

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// percentEncode escapes a header value as the NATS protocol binding requires: everything outside printable ASCII, and
// space, double quote and percent. url.PathEscape would also escape slashes and more.
func percentEncode(value string) string {
	plain := func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '%' }
	encode := 0
	for i := range len(value) {
		if !plain(value[i]) {
			encode++
		}
	}
	if encode == 0 {
		return value
	}
	var b strings.Builder
	b.Grow(len(value) + 2*encode)
	for i := range len(value) {
		if c := value[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// percentDecode decodes the output of percentEncode, unnecessary escapes, and values in double quotes (of older
// writers). ok is false for a broken escape or bytes that are not UTF-8.
func percentDecode(value string) (decoded string, ok bool) {
	if inner, quoted := strings.CutPrefix(value, `"`); quoted && strings.HasSuffix(inner, `"`) {
		value = unquote(strings.TrimSuffix(inner, `"`))
	}
	decoded, err := url.PathUnescape(value)
	return decoded, err == nil && utf8.ValidString(decoded)
}

// unquote removes the backslashes of an HTTP quoted string.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func asIs(value string) string { return value }
