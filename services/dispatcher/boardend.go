package dispatcher

import (
	"container/heap"
	"slices"
)

// tell closes idle when it is time.
func (b *board) tell() {
	if b.closed && b.room == 0 && !b.told {
		b.told = true
		close(b.idle)
	}
}

// running is how many deliveries hold room.
func (b *board) running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.room
}

// hosts counts hosts, for people.
func (b *board) hosts() hostCounts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gate.counts()
}

// close ends the intake: what has not started is forgotten, unacknowledged.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.forget(func(*delivery) bool { return true })
	b.tell()
}

// leave ends one session: what it brought and has not started is forgotten.
func (b *board) leave(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.gone = true
	b.forget(func(d *delivery) bool { return d.session == s })
	s.tell()
}

// acknowledged is called when nothing that the board has given out of a session remains to be acknowledged.
func (b *board) acknowledged(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.tell()
}

func (b *board) forget(which func(*delivery) bool) {
	var gone []*delivery
	meant := func(d *delivery) bool {
		if which(d) {
			gone = append(gone, d)
			return true
		}
		return false
	}
	b.early = slices.DeleteFunc(b.early, meant)
	heap.Init(&b.early)
	b.ready.remove(meant)
	b.suspects = slices.DeleteFunc(b.suspects, meant)
	b.gate.removeAll(meant)
	for _, d := range gone {
		b.remove(d)
	}
}
