package event

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Due reports that one state of a timer is due. It carries no payload: (UUID, Revision) identifies the state, and the
// row check before every delivery returns the rest, so that a payload is transferred once and is always that of the
// row.
type Due struct {
	Shard      shard.ID
	UUID       timer.UUID
	Revision   timer.Revision
	Generation timer.Generation
	Attempt    timer.Attempt
	DueAt      timer.Millis
	// ClaimVersion, Owner and Sequence identify the publisher, and the event among those of the publisher (I9).
	ClaimVersion int64
	Owner        timer.UUID
	Sequence     uint64
	// Target is the target of the state; 0 if it has none, if the publisher did not know it, and in messages of
	// releases before decision 0036. The shard identifies the namespace.
	Target timer.Target
	// MaybeStarted: an earlier owner of the shard may have published this state to a queue in its memory, so a delivery may have begun
	// before (I13). Processes with a queue on the bus never set it, because the bus counts the deliveries.
	MaybeStarted bool `json:",omitempty"` //nolint:tagliatelle // the golden vectors have the names of the fields.
}

// Hint reports that one state of a timer exists and is due within the hint window.
type Hint struct {
	Shard      shard.ID
	UUID       timer.UUID
	Revision   timer.Revision
	Generation timer.Generation
	Attempt    timer.Attempt
	DueAt      timer.Millis
	UpdatedAt  timer.Millis
	Target     timer.Target // as in Due
}

// An internal message is one byte with its version (high four bits) and its kind (low four bits), then big-endian
// fixed-width fields.
//
// Processes of two releases run together during an upgrade, and a queue may contain messages of the previous release:
//
//   - New fields are appended. The version stays the same, and a decoder ignores the bytes after the fields that it
//     knows, so that the older release can decode the message.
//   - A change that an older release would misread gets a new version. Decoders return ErrUnknown for an unknown version
//     or kind, and the consumer leaves the message to another process.
const (
	kindDue  = 0x01
	kindHint = 0x02

	versionDue  = 0
	versionHint = 0

	sizeDue  = 1 + 4 + 16 + 8 + 8 + 4 + 8 + 8 + 16 + 8
	sizeHint = 1 + 4 + 16 + 8 + 8 + 4 + 8 + 8

	// sizeTarget is the size of the field after those of the first release, in bytes.
	sizeTarget = 8

	// flagMaybeStarted is a bit of the byte after the target, which is left out if it is 0.
	flagMaybeStarted = 0x01
)

// ErrUnknown reports that a message has a kind or a version that this release does not know: a later release may have
// written it.
var ErrUnknown = errors.New("unknown kind or version")

func first(kind, version byte) byte { return version<<4 | kind }

// fieldsOf checks a message's first byte and its length.
func fieldsOf(what string, b []byte, kind, version byte, size int) (reader, error) {
	switch {
	case len(b) == 0:
		return reader{}, fmt.Errorf("malformed %s: no bytes", what)
	case b[0] != first(kind, version):
		return reader{}, fmt.Errorf("%s: %w: kind %d, version %d, %d bytes", what, ErrUnknown, b[0]&0x0f, b[0]>>4, len(b))
	case len(b) < size:
		return reader{}, fmt.Errorf("malformed %s: %d bytes, want at least %d", what, len(b), size)
	}
	return reader{rest: b[1:]}, nil
}

// MarshalDue encodes a due event.
func MarshalDue(d Due) []byte {
	b := make([]byte, 0, sizeDue+sizeTarget+1)
	b = append(b, first(kindDue, versionDue))
	b = appendState(b, d.Shard, d.UUID, d.Revision, d.Generation, d.Attempt, d.DueAt)
	b = binary.BigEndian.AppendUint64(b, uint64(d.ClaimVersion))
	b = append(b, d.Owner[:]...)
	b = binary.BigEndian.AppendUint64(b, d.Sequence)
	b = binary.BigEndian.AppendUint64(b, uint64(d.Target))
	if d.MaybeStarted {
		b = append(b, flagMaybeStarted)
	}
	return b
}

// UnmarshalDue decodes a due event. It ignores bytes after the known fields.
func UnmarshalDue(b []byte) (Due, error) {
	r, err := fieldsOf("due event", b, kindDue, versionDue, sizeDue)
	if err != nil {
		return Due{}, err
	}
	return Due{ // the calls run in source order
		Shard: shard.ID(r.uint32()), UUID: r.uuid(),
		Revision: timer.Revision(r.uint64()), Generation: timer.Generation(r.uint64()),
		Attempt: timer.Attempt(r.uint32()), DueAt: timer.Millis(r.uint64()),
		ClaimVersion: int64(r.uint64()), Owner: r.uuid(), Sequence: r.uint64(), Target: r.target(),
		MaybeStarted: r.flags()&flagMaybeStarted != 0,
	}, nil
}

// MarshalHint encodes a hint.
func MarshalHint(h Hint) []byte {
	b := make([]byte, 0, sizeHint+sizeTarget)
	b = append(b, first(kindHint, versionHint))
	b = appendState(b, h.Shard, h.UUID, h.Revision, h.Generation, h.Attempt, h.DueAt)
	b = binary.BigEndian.AppendUint64(b, uint64(h.UpdatedAt))
	return binary.BigEndian.AppendUint64(b, uint64(h.Target))
}

// UnmarshalHint decodes a hint. It ignores bytes after the known fields.
func UnmarshalHint(b []byte) (Hint, error) {
	r, err := fieldsOf("hint", b, kindHint, versionHint, sizeHint)
	if err != nil {
		return Hint{}, err
	}
	return Hint{
		Shard: shard.ID(r.uint32()), UUID: r.uuid(),
		Revision: timer.Revision(r.uint64()), Generation: timer.Generation(r.uint64()),
		Attempt: timer.Attempt(r.uint32()), DueAt: timer.Millis(r.uint64()), UpdatedAt: timer.Millis(r.uint64()),
		Target: r.target(),
	}, nil
}

func appendState(
	b []byte, s shard.ID, u timer.UUID, r timer.Revision, g timer.Generation, a timer.Attempt, due timer.Millis,
) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(s))
	b = append(b, u[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r))
	b = binary.BigEndian.AppendUint64(b, uint64(g))
	b = binary.BigEndian.AppendUint32(b, uint32(a))
	return binary.BigEndian.AppendUint64(b, uint64(due))
}

// reader decodes fields from bytes whose length was checked before.
type reader struct{ rest []byte }

func (r *reader) uint32() uint32 {
	v := binary.BigEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return v
}

func (r *reader) uint64() uint64 {
	v := binary.BigEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// target decodes a field that messages of earlier releases do not have.
func (r *reader) target() timer.Target {
	if len(r.rest) < sizeTarget {
		return 0
	}
	return timer.Target(r.uint64())
}

// flags decodes a field that most messages do not have.
func (r *reader) flags() byte {
	if len(r.rest) == 0 {
		return 0
	}
	return r.rest[0]
}

func (r *reader) uuid() timer.UUID {
	u := timer.UUID(r.rest[:16])
	r.rest = r.rest[16:]
	return u
}
