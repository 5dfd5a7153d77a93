package dispatcher

import (
	"errors"
	"sync"

	"github.com/timerbus/timerbus/pkg/bus"
)

// outlets publishes to topics of users' own. There may be any number of them and any may be bad, so none has a
// worker or a place in a batch of others. Whoever brings a message for a topic that nobody is publishing to does
// it himself; those who come meanwhile wait, and the first of them takes the next batch. So there are no more
// calls at once than deliveries, nothing is left of a topic that nobody uses, and each topic gets its messages in
// their order.
type outlets struct {
	publish func(topic bus.Topic, messages ...bus.Message) error
	most    int // messages in a call

	mu sync.Mutex
	// waiting has an entry for each topic that somebody is publishing to.
	waiting map[bus.Topic][]*outgoing
}

// outgoing is one message on its way.
type outgoing struct {
	message bus.Message
	err     error
	// turn says true when its bringer is to publish the next batch, which it is the first of, and false when
	// err is the answer.
	turn chan bool
}

func newOutlets(most int, publish func(topic bus.Topic, messages ...bus.Message) error) *outlets {
	return &outlets{publish: publish, most: most, waiting: map[bus.Topic][]*outgoing{}}
}

// send publishes one message and returns the bus's answer.
//
// Who waits while a call fails shares its answer: a topic that is not there, or does not answer, must not keep one
// delivery after another for the length of a call.
func (o *outlets) send(topic bus.Topic, m bus.Message) error {
	mine := &outgoing{message: m, turn: make(chan bool, 1)}
	o.mu.Lock()
	queue, busy := o.waiting[topic]
	o.waiting[topic] = append(queue, mine)
	o.mu.Unlock()
	if busy && !<-mine.turn {
		return mine.err
	}
	o.mu.Lock()
	queue = o.waiting[topic]
	batch := queue[:min(len(queue), o.most)]
	o.waiting[topic] = queue[len(batch):]
	o.mu.Unlock()

	refused := o.flush(topic, batch)

	o.mu.Lock()
	queue = o.waiting[topic]
	if refused != nil || len(queue) == 0 {
		delete(o.waiting, topic)
	} else {
		queue[0].turn <- true
		queue = nil
	}
	o.mu.Unlock()
	for _, other := range append(batch[1:len(batch):len(batch)], queue...) {
		if other.err == nil {
			other.err = refused
		}
		other.turn <- false
	}
	return mine.err
}

// flush publishes a batch and notes each message's answer. What it returns is why the topic takes nothing; a
// message that is too large says nothing about the others.
func (o *outlets) flush(topic bus.Topic, batch []*outgoing) (refused error) {
	messages := make([]bus.Message, len(batch))
	for i, out := range batch {
		messages[i] = out.message
	}
	err := o.publish(topic, messages...)
	if _, told := errors.AsType[*bus.PartialError](err); told { // the topic takes messages, but not all of these
		for i, out := range batch {
			out.err = bus.ErrorOf(err, i)
		}
		return nil
	}
	if !errors.Is(err, bus.ErrTooLarge) || len(batch) == 1 {
		for _, out := range batch {
			out.err = err
		}
		if errors.Is(err, bus.ErrTooLarge) {
			return nil
		}
		return err
	}
	for i, out := range batch { // one spoils the batch: find out which
		if out.err = refused; refused == nil {
			out.err = o.publish(topic, messages[i])
		}
		if out.err != nil && !errors.Is(out.err, bus.ErrTooLarge) {
			refused = out.err
		}
	}
	return refused
}
