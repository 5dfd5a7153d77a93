package postgresstore

import (
	"encoding/binary"
	"math"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Values are sent in PostgreSQL's binary format. A batch of 500 timers is ten thousand values. Writing them directly
// into the message costs a tenth of the time that a driver's type map takes.

// array returns a one-dimensional array of n elements of about width bytes. element appends one value and returns false
// for NULL.
func array(oid uint32, n, width int, element func(b []byte, i int) ([]byte, bool)) []byte {
	const dimensions, lowerBound = 1, 1
	b := make([]byte, 0, 20+n*(4+width))
	if n == 0 {
		b = binary.BigEndian.AppendUint32(b, 0)
		b = binary.BigEndian.AppendUint32(b, 0)
		return binary.BigEndian.AppendUint32(b, oid)
	}
	b = binary.BigEndian.AppendUint32(b, dimensions)
	hasNull := len(b)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, oid)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	b = binary.BigEndian.AppendUint32(b, lowerBound)
	for i := range n {
		at := len(b)
		b = binary.BigEndian.AppendUint32(b, 0)
		var ok bool
		b, ok = element(b, i)
		size := uint32(len(b) - at - 4)
		if !ok {
			b = b[:at+4]
			size = math.MaxUint32
			b[hasNull+3] = 1
		}
		binary.BigEndian.PutUint32(b[at:], size)
	}
	return b
}

func int8s(n int, value func(i int) int64) []byte {
	return array(pgtype.Int8OID, n, 8, func(b []byte, i int) ([]byte, bool) {
		return binary.BigEndian.AppendUint64(b, uint64(value(i))), true
	})
}

func int4s(n int, value func(i int) int32) []byte {
	return array(pgtype.Int4OID, n, 4, func(b []byte, i int) ([]byte, bool) {
		return binary.BigEndian.AppendUint32(b, uint32(value(i))), true
	})
}

func bools(n int, value func(i int) bool) []byte {
	return array(pgtype.BoolOID, n, 1, func(b []byte, i int) ([]byte, bool) {
		if value(i) {
			return append(b, 1), true
		}
		return append(b, 0), true
	})
}

func uuids(n int, value func(i int) timer.UUID) []byte {
	return array(pgtype.UUIDOID, n, 16, func(b []byte, i int) ([]byte, bool) {
		u := value(i)
		return append(b, u[:]...), true
	})
}

func texts(n int, value func(i int) string) []byte {
	return array(pgtype.TextOID, n, 16, func(b []byte, i int) ([]byte, bool) { return append(b, value(i)...), true })
}

// textsOrNull stores an empty text as NULL.
func textsOrNull(n int, value func(i int) string) []byte {
	return array(pgtype.TextOID, n, 16, func(b []byte, i int) ([]byte, bool) {
		text := value(i)
		return append(b, text...), text != ""
	})
}

func byteas(n int, value func(i int) []byte) []byte {
	size := 0
	for i := range n {
		size += len(value(i))
	}
	return array(pgtype.ByteaOID, n, size/max(n, 1), func(b []byte, i int) ([]byte, bool) {
		v := value(i)
		return append(b, v...), v != nil
	})
}

func instants(n int, value func(i int) timer.Millis) []byte {
	return array(pgtype.TimestamptzOID, n, 8, func(b []byte, i int) ([]byte, bool) {
		return appendInstant(b, value(i)), true
	})
}

// instantsOrNull stores a zero as NULL.
func instantsOrNull(n int, value func(i int) timer.Millis) []byte {
	return array(pgtype.TimestamptzOID, n, 8, func(b []byte, i int) ([]byte, bool) {
		m := value(i)
		return appendInstant(b, m), m != 0
	})
}

func keyDues(n int, key func(i int) store.Key) []byte {
	return instants(n, func(i int) timer.Millis { return key(i).DueAt })
}

func keyUUIDs(n int, key func(i int) store.Key) []byte {
	return uuids(n, func(i int) timer.UUID { return key(i).UUID })
}

func int8Value(v int64) []byte           { return binary.BigEndian.AppendUint64(nil, uint64(v)) }
func int4Value(v int32) []byte           { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
func uuidValue(u timer.UUID) []byte      { return u[:] }
func textValue(s string) []byte          { return []byte(s) }
func instantValue(m timer.Millis) []byte { return appendInstant(nil, m) }

// PostgreSQL counts microseconds from 2000. It has infinite values before and after all other times.
const (
	epoch                         = timer.Millis(946_684_800_000)
	minusInfinity, infinity       = math.MinInt64, math.MaxInt64
	firstInstant                  = timer.Millis(-210_866_803_200_000) // 4714-11-24 BC, the first that PostgreSQL can store
	lastInstant                   = timer.Millis(9_224_318_015_999_999)
	microseconds            int64 = 1000
)

// appendInstant appends a time and preserves the order of times: values outside PostgreSQL's range become its
// infinities.
func appendInstant(b []byte, m timer.Millis) []byte {
	v := int64(m-epoch) * microseconds
	switch {
	case m < firstInstant:
		v = minusInfinity
	case m > lastInstant:
		v = infinity
	}
	return binary.BigEndian.AppendUint64(b, uint64(v))
}

// instantOf is the inverse of appendInstant. The infinities become the times of MinKey and Never.
func instantOf(b []byte) timer.Millis {
	switch v := int64(binary.BigEndian.Uint64(b)); v {
	case minusInfinity:
		return store.MinKey().DueAt
	case infinity:
		return timer.Never
	default:
		return timer.Millis(v/microseconds) + epoch
	}
}
