package natsbus

import (
	"sync"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// epochs maps the sequences of a stream to positions.
//
// A stream that was deleted and created again has a new epoch, its creation time. A due stream also gets a new epoch
// when its last sequence decreases: the server writes its messages to disk after it has acknowledged them to the
// publisher, so a killed server loses the newest ones and assigns their sequences again. Positions of lost messages
// belong to the earlier epoch and order before all new positions.
//
// Each process numbers the epochs of the due stream independently, because its positions are only kept in memory. The
// positions of logs are stored, so a log has one epoch here, and truncation.go handles lost messages.
type epochs struct {
	mu sync.Mutex
	// created is the stream's creation time in Unix nanoseconds.
	created int64
	// starts has an entry for each epoch that still has sequences, in order.
	starts []epoch
	// high is the largest sequence known to be assigned in the last epoch.
	high uint64
}

// epoch begins at sequence first and ends where the next one begins.
type epoch struct {
	number int64
	first  uint64
}

// mark is the state of epochs before a request to the server.
type mark struct {
	number int64
	high   uint64
}

func (e *epochs) mark() mark {
	e.mu.Lock()
	defer e.mu.Unlock()
	return mark{number: e.last(), high: e.high}
}

// last returns the number of the last epoch. The caller must lock e.mu.
func (e *epochs) last() int64 {
	if len(e.starts) == 0 {
		return 0
	}
	return e.starts[len(e.starts)-1].number
}

// at returns the epoch of a sequence.
func (e *epochs) at(seq uint64) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(e.starts) - 1; i > 0; i-- {
		if e.starts[i].first <= seq {
			return e.starts[i].number
		}
	}
	return e.created
}

// assigned records that the server has assigned a sequence.
func (e *epochs) assigned(seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.high = max(e.high, seq)
}

// update records a stream state that was requested after m. It returns true if the last sequence has decreased, and
// then starts a new epoch if cut is set.
func (e *epochs) update(m mark, created int64, last uint64, cut bool) (back bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.created != created:
		e.created, e.starts, e.high = created, []epoch{{number: created, first: 1}}, last
	case last < m.high && m.number == e.last():
		if cut {
			e.cut(last + 1)
		}
		e.high = last
		return true
	default:
		e.high = max(e.high, last)
	}
	return false
}

// reassigned starts a new epoch because the server has assigned a sequence at or below m.high to a publish that began
// after m. update cannot detect this if other publishers have moved the last sequence past m.high again.
func (e *epochs) reassigned(m mark, seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m.number == e.last() {
		e.cut(seq)
	}
}

// cut starts an epoch at a sequence. The caller must lock e.mu.
func (e *epochs) cut(first uint64) {
	number := e.last() + 1
	for len(e.starts) > 1 && e.starts[len(e.starts)-1].first >= first {
		e.starts = e.starts[:len(e.starts)-1]
	}
	e.starts = append(e.starts, epoch{number: number, first: first})
}

// position returns the position of a message that is in the stream.
func (e *epochs) position(p shard.Partition, seq uint64) bus.Position {
	return bus.Position{Partition: p, Epoch: e.at(seq), Offset: int64(seq)}
}

// positionSince returns the position of a message whose publish began after m. If a new epoch has started since, the
// message may be one of those that were lost, so it counts as one of the earlier epoch.
func (e *epochs) positionSince(m mark, p shard.Partition, seq uint64) bus.Position {
	return bus.Position{Partition: p, Epoch: min(m.number, e.at(seq)), Offset: int64(seq)}
}
