package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// publishJob carries one message to the batch of its topic, and the answer back.
type publishJob struct {
	message bus.Message
	err     error
	done    chan struct{}
}

func (s *Service) topicBatch(topic bus.Topic) *batch[*publishJob] {
	return newBatch(s.config.Room, s.config.Batch, func(jobs []*publishJob) { s.flushTopic(topic, jobs) })
}

func (s *Service) flushTopic(topic bus.Topic, jobs []*publishJob) {
	messages := make([]bus.Message, len(jobs))
	for i, job := range jobs {
		messages[i] = job.message
	}
	err := s.publish(topic, messages...)
	_, partial := errors.AsType[*bus.PartialError](err)
	for i, job := range jobs {
		job.err = bus.ErrorOf(err, i)
		if !partial && errors.Is(err, bus.ErrTooLarge) && len(jobs) > 1 {
			job.err = s.publish(topic, messages[i]) // finds the message that is too large
		}
		job.done <- struct{}{}
	}
}

func (s *Service) publish(topic bus.Topic, messages ...bus.Message) error {
	err := s.callPublish(topic, messages)
	operation := "publish to " + string(topic)
	if errors.Is(err, bus.ErrTooLarge) { // the bus works
		s.metrics.failures.WithLabelValues(operation).Inc()
		s.outage.Succeeded(operation)
		return err
	}
	s.recordResult(operation, err)
	return err
}

// publishToUserTopic publishes to a user topic. A failure is recorded in the outcome of each timer, so it is logged at
// level debug only. The topic is not a metric label, because users choose the topics.
func (s *Service) publishToUserTopic(topic bus.Topic, messages ...bus.Message) error {
	err := s.callPublish(topic, messages)
	if err != nil {
		s.metrics.failures.WithLabelValues("publish to a user topic").Inc()
		s.config.Logger.Debug("publish to user topic failed", "topic", topic, "events", len(messages), "error", err)
	}
	return err
}

func (s *Service) callPublish(topic bus.Topic, messages []bus.Message) error {
	ctx, cancel := context.WithTimeout(s.calls, s.config.CallTimeout)
	defer cancel()
	_, err := s.config.Bus.Publish(ctx, topic, messages...)
	return err
}

// send hands a message to a topic's batch. The caller waits for job.done.
func send(topic *batch[*publishJob], m bus.Message) *publishJob {
	job := &publishJob{message: m, done: make(chan struct{}, 1)}
	topic.add(job)
	return job
}

// sendWithRetry publishes until the bus has the message. It stops if the message is too large (bus.ErrTooLarge) or the
// service ends.
func (s *Service) sendWithRetry(topic *batch[*publishJob], m bus.Message) error {
	backoff := storeBackoff{service: s}
	for {
		job := send(topic, m)
		<-job.done
		if job.err == nil || errors.Is(job.err, bus.ErrTooLarge) || errors.Is(job.err, bus.ErrClosed) {
			return job.err
		}
		if !backoff.wait(s.life) {
			return fmt.Errorf("%w: %w", errStopped, job.err)
		}
	}
}

// message encodes an event as a message for its timer's partition. The message id lets the bus drop repetitions of the
// same event; suffix distinguishes messages that have the same CloudEvents id on purpose.
func (s *Service) message(e event.CloudEvent, sh shard.ID, suffix string) (bus.Message, error) {
	headers, body, err := e.Encode(s.config.Format)
	if err != nil {
		return bus.Message{}, err
	}
	return bus.Message{
		Partition: shard.PartitionOf(sh, s.config.Bus.Partitions()), Key: e.Subject, ID: e.ID + suffix,
		Headers: headers, Body: body,
	}, nil
}

// hint sends the scheduler a hint if the row is due within the hint window. It decides after the commit, and also sends
// a hint for a write with an unknown outcome. Hints may be lost, so hint never blocks.
func (s *Service) hint(d *delivery, f *store.Finish, dueAt, updatedAt timer.Millis) {
	if f.Kind == store.FinishParked || dueAt.Sub(s.config.Clock()) > s.config.HintWindow && s.config.StoreClock.Trusted() {
		return
	}
	h := event.Hint{
		Shard: d.ref.Shard, UUID: d.ref.UUID, Revision: f.Next, Generation: d.due.Generation,
		Attempt: d.due.Attempt, DueAt: dueAt, UpdatedAt: updatedAt, Target: d.due.Target,
	}
	if d.row.Revision != 0 { // a row that was postponed unread keeps the values of the event
		h.Generation, h.Attempt, h.Target = d.row.Generation, d.row.Attempts+1, d.row.Target()
	}
	switch f.Kind { //nolint:exhaustive // other kinds change neither.
	case store.FinishRescheduled:
		h.Generation, h.Attempt = timer.Generation(f.Next), 1
	case store.FinishRetry:
		h.Attempt = f.Record.Attempt + 1
	}
	m := bus.Message{
		Partition: shard.PartitionOf(d.ref.Shard, s.config.Bus.Partitions()),
		Key:       d.ref.Shard.String(), Body: event.MarshalHint(h),
	}
	if !s.hints.offer(m) {
		s.metrics.hintsLost.Inc()
	}
}

// flushHints publishes hints once, without retry: if a hint is lost, a poll finds its timer later.
func (s *Service) flushHints(messages []bus.Message) {
	_ = s.publish(bus.Shards, messages...)
}

// batch combines the jobs of concurrent deliveries into few calls. A worker takes one job and all other jobs in the
// queue, up to the limit, without waiting for more. So batches grow with the load, and an idle service does not wait.
type batch[J any] struct {
	queue   chan J
	maxJobs int
	flush   func([]J)
}

// newBatch returns a batch whose queue has space for room jobs. Deliveries wait for their jobs, so at most room jobs
// are queued and add does not block.
func newBatch[J any](room, most int, flush func([]J)) *batch[J] {
	return &batch[J]{queue: make(chan J, room), maxJobs: most, flush: flush}
}

func (b *batch[J]) add(job J) { b.queue <- job }

// offer hands over a job if there is space. It is for jobs that may be lost.
func (b *batch[J]) offer(job J) bool {
	select {
	case b.queue <- job:
		return true
	default:
		return false
	}
}

// work flushes jobs until close is called and the queue is empty. Several workers may run.
func (b *batch[J]) work() {
	jobs := make([]J, 0, b.maxJobs)
	for job := range b.queue {
		jobs = append(jobs[:0], job)
		for more := true; more && len(jobs) < b.maxJobs; {
			select {
			case next, open := <-b.queue:
				if more = open; open {
					jobs = append(jobs, next)
				}
			default:
				more = false
			}
		}
		b.flush(jobs)
		clear(jobs)
	}
}

func (b *batch[J]) close() { close(b.queue) }

// userTopics publishes to user topics. There may be any number of them and any may fail, so none has a worker, and none
// shares batches with others. The first caller of a topic publishes; callers that arrive during that call form the next
// batch, which the first of them publishes. So there are at most as many concurrent calls as deliveries, an unused
// topic uses no memory, and each topic gets its messages in order.
type userTopics struct {
	publish  func(topic bus.Topic, messages ...bus.Message) error
	maxBatch int // maximum number of messages in one call

	mu sync.Mutex
	// waiting has an entry for each topic with a running call.
	waiting map[bus.Topic][]*waitingMessage
}

// waitingMessage is one message of a caller of send.
type waitingMessage struct {
	message bus.Message
	err     error
	// lead receives true if the caller of send must publish the next batch, and false if err is the result.
	lead chan bool
}

func newUserTopics(most int, publish func(topic bus.Topic, messages ...bus.Message) error) *userTopics {
	return &userTopics{publish: publish, maxBatch: most, waiting: map[bus.Topic][]*waitingMessage{}}
}

// send publishes one message and returns the bus's answer.
//
// If a call fails, all callers that wait for the topic get the same error. Otherwise a topic that does not exist or
// does not respond would delay one delivery after another by the duration of a call.
func (o *userTopics) send(topic bus.Topic, m bus.Message) error {
	mine := &waitingMessage{message: m, lead: make(chan bool, 1)}
	o.mu.Lock()
	queue, busy := o.waiting[topic]
	o.waiting[topic] = append(queue, mine)
	o.mu.Unlock()
	if busy && !<-mine.lead {
		return mine.err
	}
	o.mu.Lock()
	queue = o.waiting[topic]
	batch := queue[:min(len(queue), o.maxBatch)]
	o.waiting[topic] = queue[len(batch):]
	o.mu.Unlock()

	refused := o.flush(topic, batch)

	o.mu.Lock()
	queue = o.waiting[topic]
	if refused != nil || len(queue) == 0 {
		delete(o.waiting, topic)
	} else {
		queue[0].lead <- true
		queue = nil
	}
	o.mu.Unlock()
	for _, other := range append(batch[1:len(batch):len(batch)], queue...) {
		if other.err == nil {
			other.err = refused
		}
		other.lead <- false
	}
	return mine.err
}

// flush publishes a batch and records each message's answer. It returns an error if the topic takes no message. A
// message that is too large says nothing about the rest.
func (o *userTopics) flush(topic bus.Topic, batch []*waitingMessage) (refused error) {
	messages := make([]bus.Message, len(batch))
	for i, out := range batch {
		messages[i] = out.message
	}
	err := o.publish(topic, messages...)
	if _, partial := errors.AsType[*bus.PartialError](err); partial { // the topic takes messages, but not all of these
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
	for i, out := range batch { // finds the message that is too large
		if out.err = refused; refused == nil {
			out.err = o.publish(topic, messages[i])
		}
		if out.err != nil && !errors.Is(out.err, bus.ErrTooLarge) {
			refused = out.err
		}
	}
	return refused
}
