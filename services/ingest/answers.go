package ingest

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

// shownCommand is how many bytes of an unreadable command its refusal contains.
const shownCommand = 1024

// answer publishes the answer to each command: for applied commands on the results topic, for refused ones on the dead
// topic. It returns when the bus has all of them.
func (t *session) answer(items []*item) error {
	var results, dead []bus.Message
	for _, it := range items {
		m, err := t.message(it)
		if err != nil {
			// An internal error. The command is committed, and the partition must make progress.
			t.cfg.Logger.Error("command answer cannot be encoded, dropped", "source", t.shown, "error", err)
			continue
		}
		if it.refusal != nil {
			dead = append(dead, m)
		} else {
			results = append(results, m)
		}
	}
	if err := t.publish(bus.Results, results); err != nil {
		return err
	}
	if err := t.publish(bus.Dead, dead); err != nil {
		return err
	}
	for _, it := range items {
		t.answered.WithLabelValues(it.resultLabel()).Inc()
	}
	return nil
}

// resultLabel is the value of the item's metric label.
func (it *item) resultLabel() string {
	switch {
	case it.refusal != nil:
		return "refused"
	case it.replayed:
		return "replayed"
	default:
		return "applied"
	}
}

// publish returns when the bus has the messages. After a PartialError it publishes only the missing messages again.
func (t *session) publish(topic bus.Topic, messages []bus.Message) error {
	if len(messages) == 0 {
		return nil
	}
	return t.retryUntilDone("bus", func(ctx context.Context) error {
		_, err := t.cfg.Bus.Publish(ctx, topic, messages...)
		if _, told := errors.AsType[*bus.PartialError](err); !told && errors.Is(err, bus.ErrTooLarge) && len(messages) > 1 {
			err = t.publishSingly(ctx, topic, messages)
		}
		if messages = t.unpublished(topic, messages, err); len(messages) == 0 {
			return nil
		}
		return err
	})
}

// publishSingly publishes each message alone, to find the messages that are too large.
func (t *session) publishSingly(ctx context.Context, topic bus.Topic, messages []bus.Message) error {
	partial := &bus.PartialError{Errs: make([]error, len(messages))}
	for i, m := range messages {
		_, partial.Errs[i] = t.cfg.Bus.Publish(ctx, topic, m)
	}
	return partial
}

// unpublished returns the messages to publish again, after a Publish of all of them has returned err.
func (t *session) unpublished(topic bus.Topic, messages []bus.Message, err error) []bus.Message {
	var left []bus.Message
	for i, m := range messages {
		switch own := bus.ErrorOf(err, i); {
		case own == nil:
		case errors.Is(own, bus.ErrTooLarge):
			t.tooLarge(topic, &m, own)
		default:
			left = append(left, m)
		}
	}
	return left
}

// tooLarge logs and drops an answer that exceeds the bus's limit, so that the partition makes progress. The limits of
// commands keep answers far below it.
func (t *session) tooLarge(topic bus.Topic, m *bus.Message, err error) {
	t.cfg.Logger.Error("command answer is too large for the bus, dropped", "topic", topic, "key", m.Key, "error", err)
}

// message encodes the answer to one command. Its ID is the same for a repetition of the command with the same result,
// so that a bus that deduplicates drops the repetitions of a publish with unknown outcome. It does not drop the answer
// to a replay, nor the answer to another command that got the same position after a truncation of the topic. A command
// without a position has no ID, because its repetitions and its replays cannot be distinguished.
func (t *session) message(it *item) (bus.Message, error) {
	d, c := it.delivery, &it.command
	place := t.place(d)
	id := fmt.Sprintf("%s/%d/%s", place, d.Time.UnixMilli(), it.resultLabel())
	if !it.hasPosition() {
		// Without a position the command is applied again, and each time it is answered.
		place, id = string(bus.Commands)+"/"+d.ID, ""
	}
	a := event.Answer{
		CommandID: it.event.ID, Verb: it.event.Verb, Namespace: c.namespaceName, TimerID: c.id,
		Earlier: it.replayed, InTime: it.outcome.inTime,
	}
	if c.forSchedule() {
		a.TimerID, a.ScheduleID = "", nameOf(c.id)
	}
	if a.CommandID == "" {
		a.CommandID = place
	}
	correlation := it.event.CorrelationID
	var err error
	switch {
	case it.refusal != nil:
		f := it.refusal
		a.Error, a.Message = string(f.code), f.message
		if a.Details, err = encode(f.details); err != nil {
			return bus.Message{}, fmt.Errorf("encode details of %s: %w", place, err)
		}
		if c.id == "" || it.invalid {
			a.Command = string(d.Body[:min(len(d.Body), shownCommand)])
		}
	default:
		if it.outcome.timer != nil && !c.forSchedule() {
			correlation = it.outcome.timer.Correlation()
		}
		switch {
		case it.outcome.backfill != nil:
			a.Backfill, err = encode(it.outcome.backfill)
		case it.missing:
		case c.forSchedule():
			a.Schedule, err = encodeSchedule(c.namespace, it.outcome.timer)
		default:
			a.Timer, err = encode(renderTimer(it.outcome.timer))
		}
		if err != nil {
			return bus.Message{}, fmt.Errorf("encode the result of %s: %w", place, err)
		}
	}
	e, err := event.AnswerOf(t.cfg.Source, &a, correlation, t.cfg.Clock())
	if err != nil {
		return bus.Message{}, err
	}
	e.Trace = it.event.Trace
	headers, body, err := e.Encode(t.cfg.Format)
	if err != nil {
		return bus.Message{}, err
	}
	m := bus.Message{Partition: t.partitionOf(it), Key: d.Key, ID: id, Headers: headers, Body: body}
	if subject := a.Subject(); subject != "" {
		m.Key = subject
	}
	return m, nil
}

func encodeSchedule(ns *store.Namespace, row *timer.Timer) ([]byte, error) {
	rendered, err := renderSchedule(ns, row)
	if err != nil {
		return nil, err
	}
	return encode(rendered)
}

// partitionOf returns the timer's partition, or 0 if the namespace is unknown.
func (t *session) partitionOf(it *item) shard.Partition {
	if it.command.namespace == nil {
		return 0
	}
	return shard.PartitionOf(it.command.ref.Shard, t.cfg.Bus.Partitions())
}
