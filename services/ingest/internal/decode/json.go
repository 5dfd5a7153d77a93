package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/timer"
)

// value is the text of one JSON value, without surrounding white space. The standard library has validated the whole
// body before, so splitting it needs no syntax checks. Values are found in the text without building other data.
type value []byte

// document validates a body and returns it as a value.
func document(body []byte) (value, error) {
	if !utf8.Valid(body) {
		at := invalidAt(body)
		return nil, timer.Invalid("body", body[at:min(at+8, len(body))],
			fmt.Sprintf("UTF-8, invalid at byte %d", at))
	}
	if !json.Valid(body) {
		return nil, timer.Invalid("body", body, "one JSON object"+syntax(body))
	}
	v := value(bytes.Trim(body, " \t\r\n"))
	if v[0] != '{' {
		return nil, timer.Invalid("body", raw(v), "one JSON object")
	}
	return v, nil
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(b []byte) int {
	at := 0
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return at
}

// syntax describes the error in a text that is not JSON.
func syntax(body []byte) string {
	var v json.RawMessage
	err := json.Unmarshal(body, &v)
	if syntaxError, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf(" (%v, byte %d)", err, syntaxError.Offset)
	}
	return ""
}

// raw formats a value in an error as it was written.
type raw value

func (r raw) String() string { return string(r) }

func (v value) isNull() bool { return v[0] == 'n' }

// object calls visit for each member. It refuses unknown and repeated names.
func (v value) object(path string, known []string, visit func(name string, v value) error) error {
	if v[0] != '{' {
		return timer.Invalid(path, raw(v), "an object")
	}
	var seen uint64
	return v.pairs(func(key, member value) error {
		at := find(known, key)
		if at < 0 {
			return timer.Invalid(join(path, key.text()), raw(member), "only "+fieldsOf(known))
		}
		if seen&(1<<at) != 0 {
			return timer.Invalid(join(path, known[at]), raw(member), "a field at most once")
		}
		seen |= 1 << at
		return visit(known[at], member)
	})
}

// pairs calls visit for each member of an object, with any name.
func (v value) pairs(visit func(key, member value) error) error {
	rest := skipSpace(v[1:])
	for rest[0] != '}' {
		key, after := cutValue(rest)
		member, next := cutValue(skipSpace(skipSpace(after)[1:])) // after the colon
		if err := visit(key, member); err != nil {
			return err
		}
		if rest = skipSpace(next); rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
	}
	return nil
}

// each calls visit for each element of an array.
func (v value) each(visit func(element value)) {
	rest := skipSpace(v[1:])
	for rest[0] != ']' {
		element, next := cutValue(rest)
		visit(element)
		if rest = skipSpace(next); rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
	}
}

func fieldsOf(known []string) string {
	if len(known) == 0 {
		return "an empty object"
	}
	return "the fields " + strings.Join(known, ", ")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// find returns the index of a key in the list of names, or -1.
func find(known []string, key value) int {
	name := key[1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(key.text())
	}
	for i, k := range known {
		if k == string(name) {
			return i
		}
	}
	return -1
}

// cutValue splits a text after its first value.
func cutValue(text []byte) (v value, rest []byte) {
	end := 0
	switch text[0] {
	case '"':
		end = stringEnd(text)
	case '{', '[':
		for depth := 0; ; {
			switch text[end] {
			case '"':
				end += stringEnd(text[end:])
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			end++
			if depth == 0 {
				return value(text[:end]), text[end:]
			}
		}
	default: // a number, true, false or null
		for end < len(text) && !ends(text[end]) {
			end++
		}
	}
	return value(text[:end]), text[end:]
}

// ends reports whether a byte cannot belong to a number, true, false or null.
func ends(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	default:
		return false
	}
}

// stringEnd returns the length of the string at the start of a text, including quotes.
func stringEnd(text []byte) int {
	end := 1
	for {
		end += bytes.IndexByte(text[end:], '"')
		backslashes := 0
		for text[end-1-backslashes] == '\\' {
			backslashes++
		}
		end++
		if backslashes%2 == 0 {
			return end
		}
	}
}

func skipSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}

// text returns the content of a string value, with lone surrogates replaced.
func (v value) text() string {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		return string(v) // impossible, because the text is valid
	}
	return s
}

// string decodes a non-empty string. It refuses lone surrogates: all of them would become the same replacement
// character, so that different ids became the same id.
func (v value) string(field, want string) (string, error) {
	if v[0] != '"' || len(v) == 2 || loneSurrogate(v) {
		return "", timer.Invalid(field, raw(v), want)
	}
	return v.text(), nil
}

// loneSurrogate finds an escape \uD800 to \uDFFF that is not part of a pair.
func loneSurrogate(v value) bool {
	for {
		at := bytes.IndexByte(v, '\\')
		if at < 0 {
			return false
		}
		v = v[at+1:]
		if v[0] != 'u' {
			v = v[1:]
			continue
		}
		switch hex(v[1:5]) >> 10 {
		case 0xDC00 >> 10:
			return true
		case 0xD800 >> 10:
			if v[5] != '\\' || v[6] != 'u' || hex(v[7:11])>>10 != 0xDC00>>10 {
				return true
			}
			v = v[11:]
		default:
			v = v[5:]
		}
	}
}

func hex(digits []byte) uint64 {
	n, _ := strconv.ParseUint(string(digits), 16, 16) // the text is valid, so these are four digits
	return n
}

// bool decodes true or false.
func (v value) bool(field string) (bool, error) {
	switch string(v) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	default:
		return false, timer.Invalid(field, raw(v), "true or false")
	}
}

// number decodes any JSON number.
func (v value) number(field, want string) (float64, error) {
	if v[0] == '-' || v[0] >= '0' && v[0] <= '9' {
		if n, err := strconv.ParseFloat(string(v), 64); err == nil {
			return n, nil
		}
	}
	return 0, timer.Invalid(field, raw(v), want)
}

// integer decodes a whole number from lowest to highest; 4.0 and 4e0 are whole numbers, too.
func (v value) integer(field string, lowest, highest int, want string) (int, error) {
	n, err := v.number(field, want)
	if err != nil {
		return 0, err
	}
	if n != math.Trunc(n) || n < float64(lowest) || n > float64(highest) {
		return 0, timer.Invalid(field, raw(v), want)
	}
	return int(n), nil
}
