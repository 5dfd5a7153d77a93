package kafkabus

import (
	"context"
	"slices"
	"sync"

	"github.com/timerbus/timerbus/pkg/bus"
)

// together lets callers who ask for the same floors at the same time share the answer. Sixteen partitions sweep, and
// a scheduler that takes eight over asks eight times at once, for what is one answer.
//
// A question under way began before those who come now, and so is not for them: they share the next one.
type together struct {
	ask func(ctx context.Context) (bus.Floors, error)

	mu    sync.Mutex
	asked bool // a question is under way
	next  *round
}

// round is one question and who waits for it.
type round struct {
	done   chan struct{}
	floors bus.Floors
	err    error
}

// floors returns an answer to a question that is asked after this call began. life bounds the question, ctx the
// waiting.
func (t *together) floors(ctx, life context.Context, running *sync.WaitGroup) (bus.Floors, error) {
	t.mu.Lock()
	if t.next == nil {
		t.next = &round{done: make(chan struct{})}
	}
	mine := t.next
	if !t.asked {
		t.asked = true
		running.Go(func() { t.run(life) })
	}
	t.mu.Unlock()
	select {
	case <-mine.done:
		return slices.Clone(mine.floors), mine.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run asks as long as somebody waits.
func (t *together) run(life context.Context) {
	for {
		t.mu.Lock()
		r := t.next
		t.next, t.asked = nil, r != nil
		t.mu.Unlock()
		if r == nil {
			return
		}
		r.floors, r.err = t.ask(life)
		close(r.done)
	}
}
