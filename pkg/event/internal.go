package event

import (
	"encoding/binary"
	"fmt"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Due says that one state of a timer is due. It carries no payload: (UUID, Revision) names the state,
// and the row check that must precede every delivery brings the rest, so that a payload travels once
// and is always the row's.
type Due struct {
	Shard      shard.ID
	UUID       timer.UUID
	Revision   timer.Revision
	Generation timer.Generation
	Attempt    timer.Attempt
	DueAt      timer.Millis
	// ClaimVersion, Owner and Sequence tell who published it, and as which of the owner's events
	// (I9).
	ClaimVersion int64
	Owner        timer.UUID
	Sequence     uint64
}

// Hint says that one state of a timer exists and is due within the hint window.
type Hint struct {
	Shard      shard.ID
	UUID       timer.UUID
	Revision   timer.Revision
	Generation timer.Generation
	Attempt    timer.Attempt
	DueAt      timer.Millis
	UpdatedAt  timer.Millis
}

// The internal messages are a kind byte, then big-endian fixed-width fields. A change of the fields
// takes a new kind, so that services of two releases refuse each other's messages instead of
// misreading them; both messages may be lost without harm.
const (
	kindDue  = 0x01
	kindHint = 0x02

	sizeDue  = 1 + 4 + 16 + 8 + 8 + 4 + 8 + 8 + 16 + 8
	sizeHint = 1 + 4 + 16 + 8 + 8 + 4 + 8 + 8
)

// MarshalDue writes a due event.
func MarshalDue(d Due) []byte {
	b := make([]byte, 0, sizeDue)
	b = append(b, kindDue)
	b = appendState(b, d.Shard, d.UUID, d.Revision, d.Generation, d.Attempt, d.DueAt)
	b = binary.BigEndian.AppendUint64(b, uint64(d.ClaimVersion))
	b = append(b, d.Owner[:]...)
	return binary.BigEndian.AppendUint64(b, d.Sequence)
}

// UnmarshalDue reads a due event.
func UnmarshalDue(b []byte) (Due, error) {
	if len(b) != sizeDue || b[0] != kindDue {
		return Due{}, malformed("due event", b)
	}
	r := reader{rest: b[1:]} // calls run in the order they stand in
	return Due{
		Shard: shard.ID(r.uint32()), UUID: r.uuid(),
		Revision: timer.Revision(r.uint64()), Generation: timer.Generation(r.uint64()),
		Attempt: timer.Attempt(r.uint32()), DueAt: timer.Millis(r.uint64()),
		ClaimVersion: int64(r.uint64()), Owner: r.uuid(), Sequence: r.uint64(),
	}, nil
}

// MarshalHint writes a hint.
func MarshalHint(h Hint) []byte {
	b := make([]byte, 0, sizeHint)
	b = append(b, kindHint)
	b = appendState(b, h.Shard, h.UUID, h.Revision, h.Generation, h.Attempt, h.DueAt)
	return binary.BigEndian.AppendUint64(b, uint64(h.UpdatedAt))
}

// UnmarshalHint reads a hint.
func UnmarshalHint(b []byte) (Hint, error) {
	if len(b) != sizeHint || b[0] != kindHint {
		return Hint{}, malformed("hint", b)
	}
	r := reader{rest: b[1:]}
	return Hint{
		Shard: shard.ID(r.uint32()), UUID: r.uuid(),
		Revision: timer.Revision(r.uint64()), Generation: timer.Generation(r.uint64()),
		Attempt: timer.Attempt(r.uint32()), DueAt: timer.Millis(r.uint64()), UpdatedAt: timer.Millis(r.uint64()),
	}, nil
}

func malformed(what string, b []byte) error {
	if len(b) == 0 {
		return fmt.Errorf("malformed %s: no bytes", what)
	}
	return fmt.Errorf("malformed %s: kind %#02x, %d bytes", what, b[0], len(b))
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

// reader takes fields off bytes whose length was checked before.
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

func (r *reader) uuid() timer.UUID {
	u := timer.UUID(r.rest[:16])
	r.rest = r.rest[16:]
	return u
}
