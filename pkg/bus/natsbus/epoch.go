package natsbus

import (
	"sync"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// epochs turn the sequences of a stream into positions.
//
// A stream that is deleted and made again starts a new epoch: its time of creation. So does a due queue whose
// end goes back. Its messages are written to the disk after they are acknowledged to their publisher, so a
// server that is killed forgets the newest ones and gives their sequences out again. Positions that this
// process keeps of forgotten messages then lie in an earlier epoch, before everything that comes.
//
// The numbers of epochs after the first one mean nothing to other processes: positions in the due queue are
// not kept beyond the process. Those of logs are, so logs have one epoch for each creation.
type epochs struct {
	mu sync.Mutex
	// created is the stream's time of creation in nanoseconds.
	created int64
	// begun are the epochs that there are positions of, oldest first.
	begun []epoch
	// high is the largest sequence known to be given out in the last epoch.
	high uint64
}

// epoch begins at a sequence and ends where the next one begins.
type epoch struct {
	number int64
	first  uint64
}

// mark is what was known of a stream before the server was asked something.
type mark struct {
	number int64
	high   uint64
}

func (e *epochs) mark() mark {
	e.mu.Lock()
	defer e.mu.Unlock()
	return mark{number: e.last(), high: e.high}
}

// last is the number of the last epoch; e.mu is held.
func (e *epochs) last() int64 {
	if len(e.begun) == 0 {
		return 0
	}
	return e.begun[len(e.begun)-1].number
}

// at is the epoch in which a sequence lies.
func (e *epochs) at(seq uint64) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(e.begun) - 1; i > 0; i-- {
		if e.begun[i].first <= seq {
			return e.begun[i].number
		}
	}
	return e.created
}

// saw notes a sequence that was given out.
func (e *epochs) saw(seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.high = max(e.high, seq)
}

// learn takes in the stream's state, asked for after the mark, and reports whether its end had gone back.
func (e *epochs) learn(m mark, created int64, last uint64, cut bool) (back bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.created != created:
		e.created, e.begun, e.high = created, []epoch{{number: created, first: 1}}, last
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

// reused takes in that a sequence not above the mark was given out after it: the end had gone back, and others
// have published so much since that learn could not see it.
func (e *epochs) reused(m mark, seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m.number == e.last() {
		e.cut(seq)
	}
}

// cut begins an epoch at a sequence; e.mu is held.
func (e *epochs) cut(first uint64) {
	number := e.last() + 1
	for len(e.begun) > 1 && e.begun[len(e.begun)-1].first >= first {
		e.begun = e.begun[:len(e.begun)-1]
	}
	e.begun = append(e.begun, epoch{number: number, first: first})
}

// position is where a message lies that the stream has.
func (e *epochs) position(p shard.Partition, seq uint64) bus.Position {
	return bus.Position{Partition: p, Incarnation: e.at(seq), Offset: int64(seq)}
}

// positionSince is where a message lies that was published after a mark. If an epoch has begun meanwhile, it
// may be among those forgotten, so it counts to the epoch before.
func (e *epochs) positionSince(m mark, p shard.Partition, seq uint64) bus.Position {
	return bus.Position{Partition: p, Incarnation: min(m.number, e.at(seq)), Offset: int64(seq)}
}
