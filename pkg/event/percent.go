package event

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// percentEncode writes a header value as the NATS protocol binding asks: everything outside printable
// ASCII, and blank, double quote and percent. url.PathEscape would also escape slashes and more.
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

// percentDecode reads what percentEncode writes, escapes that were not needed, and (older writers)
// values in double quotes. ok is false for a broken escape or bytes that are not UTF-8.
func percentDecode(value string) (decoded string, ok bool) {
	if inner, quoted := strings.CutPrefix(value, `"`); quoted && strings.HasSuffix(inner, `"`) {
		value = unquote(strings.TrimSuffix(inner, `"`))
	}
	decoded, err := url.PathUnescape(value)
	return decoded, err == nil && utf8.ValidString(decoded)
}

// unquote takes away the backslashes of a quoted string of HTTP.
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
