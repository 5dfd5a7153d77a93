package postgresstore

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/timerbus/timerbus/pkg/timer"
)

// record reads the columns of one row, in their order. It is valid until the next row. The values that it returns are
// copies. A column with an unexpected width is an error of the whole row.
type record struct {
	values [][]byte
	at     int
	err    error
}

func (r *record) next(width int) (value []byte, null bool) {
	if r.at >= len(r.values) {
		r.failf("there are only %d columns", len(r.values))
		return nil, true
	}
	value = r.values[r.at]
	r.at++
	if value == nil {
		return nil, true
	}
	if width >= 0 && len(value) != width {
		r.failf("column %d has %d bytes, want %d", r.at, len(value), width)
		return nil, true
	}
	return value, false
}

func (r *record) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("read a row: "+format, args...)
	}
}

// int8 reads a bigint; NULL is 0.
func (r *record) int8() int64 {
	b, null := r.next(8)
	if null {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// int4 reads an integer; NULL is 0.
func (r *record) int4() int32 {
	b, null := r.next(4)
	if null {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

func (r *record) bool() bool {
	b, null := r.next(1)
	return !null && b[0] != 0
}

// uuid reads a uuid; NULL is zero.
func (r *record) uuid() (u timer.UUID) {
	b, _ := r.next(len(u))
	copy(u[:], b)
	return u
}

// text reads a text; NULL is empty.
func (r *record) text() string {
	b, _ := r.next(-1)
	return string(b)
}

// bytes reads a bytea; NULL is nil.
func (r *record) bytes() []byte {
	b, null := r.next(-1)
	if null {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

// instant reads a timestamptz; found is false for NULL, and then it is 0.
func (r *record) instant() (m timer.Millis, found bool) {
	b, null := r.next(8)
	if null {
		return 0, false
	}
	return instantOf(b), true
}

// due reads a timestamptz; NULL is Never.
func (r *record) due() timer.Millis {
	m, found := r.instant()
	if !found {
		return timer.Never
	}
	return m
}

// isText reports whether the next column equals the text, without copying the column.
func (r *record) isText(text string) bool {
	return r.at < len(r.values) && bytes.Equal(r.values[r.at], []byte(text))
}
