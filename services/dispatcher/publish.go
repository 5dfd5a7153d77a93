package dispatcher

import (
	"context"
	"errors"
	"fmt"

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

// publishToUserTopic publishes an event to the topic of its timer, without a batch: a batch would delay the topics that
// work by those that do not respond. A failure is recorded in the outcome of the timer, so it is logged at level debug
// only. The topic is not a metric label, because users choose the topics.
func (s *Service) publishToUserTopic(d *delivery, m bus.Message) error {
	topic := bus.Own(d.row.Topic)
	err := s.callPublish(topic, []bus.Message{m})
	if err != nil {
		s.metrics.failures.WithLabelValues("publish to a user topic").Inc()
		s.config.Logger.Debug("publish to user topic failed", "topic", topic, "error", err)
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

// hint sends the scheduler a hint if the row is due within the hint window and is not held. It decides after the commit, and also sends
// a hint for a write with an unknown outcome. Hints may be lost, so hint never blocks.
func (s *Service) hint(d *delivery, f *store.Finish, dueAt, updatedAt timer.Millis) {
	held := f.Kind == store.FinishParked || d.row.Status.Held()
	if held || dueAt.Sub(s.config.Clock()) > s.config.HintWindow && s.config.StoreClock.Trusted() {
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
	s.offerHint(&h)
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

// newBatch returns a batch whose queue has space for room jobs. Deliveries wait for their jobs, so add
// blocks only while more than room deliveries have a job.
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
