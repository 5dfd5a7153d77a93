package dispatcher

import (
	"context"
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// publishJob carries one message to its topic's batch and the answer back.
type publishJob struct {
	message bus.Message
	err     error
	done    chan struct{}
}

// topicBatch publishes to one topic.
func (s *Service) topicBatch(topic bus.Topic) *batch[*publishJob] {
	return newBatch(s.config.Room, s.config.Batch, func(jobs []*publishJob) { s.flushTopic(topic, jobs) })
}

func (s *Service) flushTopic(topic bus.Topic, jobs []*publishJob) {
	messages := make([]bus.Message, len(jobs))
	for i, job := range jobs {
		messages[i] = job.message
	}
	err := s.publish(topic, messages...)
	_, told := errors.AsType[*bus.PartialError](err)
	for i, job := range jobs {
		job.err = bus.ErrorOf(err, i)
		if !told && errors.Is(err, bus.ErrTooLarge) && len(jobs) > 1 {
			job.err = s.publish(topic, messages[i]) // one spoils the batch: find out which
		}
		job.done <- struct{}{}
	}
}

func (s *Service) publish(topic bus.Topic, messages ...bus.Message) error {
	err := s.hand(topic, messages)
	operation := "publish to " + string(topic)
	if errors.Is(err, bus.ErrTooLarge) { // the bus works
		s.metrics.failures.WithLabelValues(operation).Inc()
		s.outage.Worked(operation)
		return err
	}
	s.ended(operation, err)
	return err
}

// publishOwn publishes to a topic of a user's own. Whose timers they are hears of a failure; it is no news for the
// log, and no label of a metric.
func (s *Service) publishOwn(topic bus.Topic, messages ...bus.Message) error {
	err := s.hand(topic, messages)
	if err != nil {
		s.metrics.failures.WithLabelValues("publish to a user's topic").Inc()
		s.config.Logger.Debug("user's topic took nothing", "topic", topic, "events", len(messages), "error", err)
	}
	return err
}

func (s *Service) hand(topic bus.Topic, messages []bus.Message) error {
	ctx, cancel := context.WithTimeout(s.calls, s.config.CallTimeout)
	defer cancel()
	_, err := s.config.Bus.Publish(ctx, topic, messages...)
	return err
}

// send hands a message to a topic; the caller waits for job.done.
func send(topic *batch[*publishJob], m bus.Message) *publishJob {
	job := &publishJob{message: m, done: make(chan struct{}, 1)}
	topic.add(job)
	return job
}

// sendSurely publishes until the bus has the message, or can never have it: bus.ErrTooLarge, or the end
// of the service.
func (s *Service) sendSurely(topic *batch[*publishJob], m bus.Message) error {
	pauses := s.pauses()
	for {
		job := send(topic, m)
		<-job.done
		if job.err == nil || errors.Is(job.err, bus.ErrTooLarge) || errors.Is(job.err, bus.ErrClosed) {
			return job.err
		}
		if !pauses.wait(s.life) {
			return fmt.Errorf("%w: %w", errStopped, job.err)
		}
	}
}

// message lays an event into a message for its timer's partition. Its id lets the bus drop repetitions
// of the same event; suffix tells apart what has the same CloudEvents id on purpose.
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

// hint tells the scheduler of a row that is due within the hint window. It is judged after the commit,
// and sent for a write with unknown outcome too. Hints may be lost, so they wait for nobody.
func (s *Service) hint(d *delivery, f *store.Finish, dueAt, updatedAt timer.Millis) {
	if f.Kind == store.FinishParked || dueAt.Sub(s.config.Clock()) > s.config.HintWindow {
		return
	}
	h := event.Hint{
		Shard: d.ref.Shard, UUID: d.ref.UUID, Revision: f.Next, Generation: d.due.Generation,
		Attempt: d.due.Attempt, DueAt: dueAt, UpdatedAt: updatedAt, Target: d.due.Target,
	}
	if d.row.Revision != 0 { // not if it was put off unread
		h.Generation, h.Attempt, h.Target = d.row.Generation, d.row.Attempts+1, d.row.Target()
	}
	switch f.Kind { //nolint:exhaustive // the others keep both.
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

// flushHints sends what it can; a hint lost makes its timer late by a poll at most.
func (s *Service) flushHints(messages []bus.Message) {
	_ = s.publish(bus.Shards, messages...)
}
