package timer

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // RFC 9562 builds version 5 on SHA-1; nothing here relies on secrecy.
	"encoding/hex"
	"strconv"
)

// UUID identifies a timer. It is computed from namespace and id, so that every component finds the same row without a
// lookup. It never changes. UUIDs are ordered as unsigned bytes in every engine.
type UUID [16]byte

// uuidSpace is the name space of Timerbus's version 5 UUIDs: itself the version 5 UUID of the URL
// https://github.com/timerbus/timerbus. It must never change.
var uuidSpace = UUID{
	0x75, 0x15, 0xf2, 0xda, 0x4d, 0x8e, 0x56, 0x79,
	0x8b, 0x32, 0x31, 0x52, 0xfb, 0x29, 0x5f, 0xc4,
}

// UUIDOf returns the version 5 UUID (RFC 9562, section 5.5) of the name "<length>:<namespace><id>", where length is the
// namespace's length in bytes, in decimal. The length distinguishes ("a:", "b") from ("a", ":b").
func UUIDOf(namespace, id string) UUID {
	name := make([]byte, 0, len(uuidSpace)+4+len(namespace)+len(id))
	name = append(name, uuidSpace[:]...)
	name = strconv.AppendInt(name, int64(len(namespace)), 10)
	name = append(name, ':')
	name = append(name, namespace...)
	name = append(name, id...)
	return version5(name)
}

func version5(spaceAndName []byte) UUID {
	sum := sha1.Sum(spaceAndName) //nolint:gosec // see the import.
	var u UUID
	copy(u[:], sum[:])
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return u
}

// Compare compares UUIDs as unsigned bytes.
func (u UUID) Compare(o UUID) int { return bytes.Compare(u[:], o[:]) }

func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	b[8] = '-'
	hex.Encode(b[9:13], u[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], u[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], u[8:10])
	b[23] = '-'
	hex.Encode(b[24:36], u[10:16])
	return string(b[:])
}

// MarshalText writes the form 8-4-4-4-12.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText parses the form 8-4-4-4-12, in either case.
func (u *UUID) UnmarshalText(text []byte) error {
	parsed, ok := ParseUUID(string(text))
	if !ok {
		return Invalid("uuid", text, "a UUID such as 6ba7b810-9dad-51d1-80b4-00c04fd430c8")
	}
	*u = parsed
	return nil
}

// ParseUUID parses the form 8-4-4-4-12, in either case; ok is false for anything else.
func ParseUUID(s string) (u UUID, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return UUID{}, false
	}
	digits := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return UUID{}, false
	}
	return UUID(raw), true
}
