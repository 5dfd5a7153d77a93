package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// item is one delivered command until it is answered.
type item struct {
	delivery *bus.Delivery
	event    event.Command
	command  command
	// refusal is the answer, if set.
	refusal *refusal
	// invalid: the data is not a valid command; command has at most the namespace and the id of its timer.
	invalid bool
	// replayed: the command was applied or refused before. After readPresent, outcome.timer is the present state, unless missing is set.
	replayed bool
	outcome  outcome
	// applied: the command is applied, and outcome is its result. Another try omits the item.
	applied bool
	// admitted: the quotas of the namespace allow the command, or refusal is set. Another try does not ask again.
	admitted bool
	// missing: there is no timer to return.
	missing bool
	// traced is the context with the span of the command; nil if the message cannot be parsed.
	traced context.Context //nolint:containedctx // it ends with the batch.
}

func (it *item) position() store.Position {
	return store.Position{Epoch: it.delivery.Position.Epoch, Offset: it.delivery.Position.Offset}
}

// apply processes one batch: it reads the commands, commits them with the position, answers, and acknowledges. Nothing
// is acknowledged before it is committed and answered, so after any failure the commands are repeated, and the stored
// position shows which of them are replays.
func (t *session) apply(batch []*bus.Delivery) error {
	items := make([]*item, len(batch))
	for i, d := range batch {
		items[i] = &item{delivery: d}
		if err := t.read(items[i]); err != nil {
			return err
		}
	}
	if err := t.commit(items); err != nil {
		return err
	}
	for _, it := range items {
		if it.replayed && !it.applied && it.refusal == nil {
			if err := t.readPresent(it); err != nil {
				return err
			}
		}
	}
	if err := t.answer(items); err != nil {
		return err
	}
	for _, it := range items {
		if it.traced != nil {
			tracing.End(trace.SpanFromContext(it.traced), it.failure())
		}
		it.delivery.Ack()
	}
	return nil
}

// read decodes a command. A command that cannot be accepted gets a refusal, so that it never blocks later commands. An
// error means that the session stops.
func (t *session) read(it *item) error {
	d := it.delivery
	var err error
	it.event, err = t.parse(d)
	if err != nil {
		it.refuseInvalid(refuse(err))
		return nil //nolint:nilerr // the refusal is the answer.
	}
	it.traced, _ = t.cfg.Tracer.Request(t.work, trace.SpanKindConsumer, "command "+string(it.event.Verb), it.event.Trace)
	// Temporary failures (the store is unavailable, the clock is uncertain) are retried.
	return t.retryUntilDone("namespace", func(ctx context.Context) error {
		from := origin{received: t.publishedAt(d)}
		if d.Time.IsZero() {
			from = t.receivedNow()
		}
		from.caller = access.Anyone() // the bus decides who may publish, and the user's database who may insert rows
		from.source = it.event.Source
		if it.hasPosition() {
			// The time is part of the key, because after a truncation another command may get the same position.
			from.commandKey = fmt.Sprintf("%s/%d", t.place(d), d.Time.UnixMilli())
		}
		from.correlationID, from.trace = it.event.CorrelationID, tracing.Of(it.traced, it.event.Trace)
		it.command, err = t.prepare(ctx, it.event.Verb, it.event.Data, from)
		tracing.SetTimer(it.traced, it.command.namespaceName, it.command.id)
		if err == nil {
			return nil
		}
		if f := refuse(err); f.status < 500 {
			it.refusal = f
			if it.command.id == "" {
				it.refuseInvalid(f)
			}
			return nil
		}
		return err
	})
}

// refuseInvalid refuses a command that is not valid, and finds out which timer or schedule it names.
func (it *item) refuseInvalid(f *refusal) {
	it.refusal, it.invalid = f, true
	it.command.namespaceName, it.command.id = decode.TimerOf(it.event.Data)
	if it.command.id != "" && it.event.Verb.ForSchedule() {
		it.command.id = shard.ScheduleIDPrefix + it.command.id
	}
}

// hasPosition reports whether the command has a position. The zero position means that the bus does not have positions.
func (it *item) hasPosition() bool { return it.position() != (store.Position{}) }

// commit applies the commands in order, consecutive ones that need one write each in one call. If the store and the bus support
// positions, this call also moves the position, in the same transaction, and replayed commands are skipped. Otherwise replayed commands
// are applied again.
func (t *session) commit(items []*item) error {
	positions := t.cfg.Positions != nil && !slices.ContainsFunc(items, func(it *item) bool { return !it.hasPosition() })
	if positions && !t.known {
		if err := t.readPosition(); err != nil {
			return err
		}
	}
	for len(items) > 0 {
		n := slices.IndexFunc(items, (*item).hasSteps)
		if n < 0 {
			n = len(items)
		}
		var err error
		if n > 0 {
			err = t.commitTogether(items[:n], positions)
		} else {
			n, err = 1, t.applySteps(items[0], positions)
		}
		if err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// hasSteps reports whether the command needs several calls of the store.
func (it *item) hasSteps() bool { return it.refusal == nil && it.command.applySteps != nil }

// applySteps applies a command that needs several calls of the store, and then moves the position. After a crash between the two, the
// command is applied again.
func (t *session) applySteps(it *item, positions bool) error {
	if positions && len(t.dropApplied([]*item{it})) == 0 {
		return nil
	}
	if !it.admitted {
		if err := t.useQuota(&it.command); err != nil {
			it.refusal = refuse(err)
		}
		it.admitted = true
	}
	if it.refusal == nil {
		err := t.retryUntilDone("store", func(ctx context.Context) error {
			o, err := it.command.applySteps(ctx, &it.command)
			if err != nil {
				f := refuse(err)
				if isTemporary(err) {
					return err
				}
				if f.status == http.StatusInternalServerError { // a repetition would fail, too, and block the later commands
					t.cfg.Logger.Error("command for a schedule refused", "schedule", nameOf(it.command.id), "error", err)
				}
				it.refusal = f
				return nil
			}
			it.outcome, it.applied = o, true
			it.replayed, it.missing = o.replayed, it.command.verb == event.VerbDelete || o.backfill != nil
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !positions {
		return nil
	}
	return t.commitTogether([]*item{it}, true)
}

// commitTogether applies commands that need at most one write each, and moves the position past them, if there are positions.
func (t *session) commitTogether(items []*item, positions bool) error {
	if !positions {
		return t.retryUntilDone("store", func(ctx context.Context) error {
			return t.write(items, func(now timer.Millis, ops []store.Op) ([]store.Written, error) {
				return t.cfg.Store.Write(ctx, now, ops)
			})
		})
	}
	for {
		fresh := t.dropApplied(items)
		if len(fresh) == 0 {
			return nil
		}
		move := store.Move{
			Topic: t.name, Partition: int(t.partition),
			From: t.position, To: fresh[len(fresh)-1].position(),
		}
		var conflict bool
		err := t.retryUntilDone("store", func(ctx context.Context) error {
			err := t.write(fresh, func(now timer.Millis, ops []store.Op) ([]store.Written, error) {
				return t.cfg.Positions.WriteAt(ctx, now, ops, move)
			})
			// After an unknown outcome, the next try conflicts if the batch was applied.
			conflict = errors.Is(err, store.ErrConflict)
			if conflict {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		if !conflict {
			t.position = move.To
			return nil
		}
		if err := t.readPosition(); err != nil {
			return err
		}
	}
}

// readPosition reads the position up to which the commands of the source are applied.
func (t *session) readPosition() error {
	return t.retryUntilDone("position", func(ctx context.Context) error {
		p, err := t.cfg.Positions.Position(ctx, t.name, int(t.partition))
		if err == nil {
			t.position, t.known = p, true
		}
		return err
	})
}

// dropApplied returns the items after the stored position, and marks those before them as replayed. A topic that was created
// again has a larger epoch: all its commands are new, and those of an older epoch count as applied. After a truncation, commands up to
// the stored position may be new (truncatedTopic.covers).
func (t *session) dropApplied(items []*item) []*item {
	for i, it := range items {
		if after(it.position(), t.position) || t.truncated.covers(t.position, it, t.publishedAt(it.delivery)) {
			return items[i:]
		}
		it.replayed = true
	}
	return nil
}

func after(p, q store.Position) bool {
	return cmp.Or(cmp.Compare(p.Epoch, q.Epoch), cmp.Compare(p.Offset, q.Offset)) > 0
}

// write applies the items that are neither refused nor applied. Each try uses new revisions, because one revision must
// not name two different states. It returns an error if some items must be tried again.
func (t *session) write(items []*item, write func(now timer.Millis, ops []store.Op) ([]store.Written, error)) error {
	var accepted []*item
	for _, it := range items {
		if it.refusal == nil && !it.admitted {
			if err := t.useQuota(&it.command); err != nil {
				it.refusal = refuse(err)
			}
			it.admitted = it.refusal == nil
		}
		if it.refusal == nil && !it.applied {
			accepted = append(accepted, it)
		}
	}
	now, err := t.writeNow()
	if err != nil {
		return err
	}
	b := commit.Batch{Ops: make([]store.Op, len(accepted)), Now: now}
	for i, it := range accepted {
		b.Ops[i] = it.command.op(t.cfg.Revisions.Next())
	}
	end := t.startStore(accepted)
	b.Written, b.Err = write(b.Now, b.Ops)
	end()
	b.After = t.timeAfterWrite()
	b.Err = commit.WriteError(b.Err, len(b.Written), len(b.Ops))
	t.hint(b)
	if b.Err != nil {
		return b.Err
	}
	t.addChanges(b)
	var left error
	for i, it := range accepted {
		if err := b.ErrOf(i); err != nil {
			left = err
			continue
		}
		o, err := t.interpret(&it.command, &b.Written[i], b.After)
		if err != nil {
			it.refusal = refuse(err)
			continue
		}
		it.outcome, it.applied = o, true
		it.missing = it.command.verb == event.VerbDelete
	}
	return left
}

// startStore starts a span of the write in each traced item, and returns a function that ends them.
func (t *session) startStore(items []*item) (end func()) {
	var spans []trace.Span
	for _, it := range items {
		if _, span := t.cfg.Tracer.Child(it.traced, trace.SpanKindInternal, "store"); span.IsRecording() {
			spans = append(spans, span)
		}
	}
	return func() {
		for _, span := range spans {
			span.End()
		}
	}
}

// failure is why the command was refused; empty if it was not.
func (it *item) failure() string {
	if it.refusal == nil {
		return ""
	}
	return it.refusal.message
}

// readPresent reads the present state of a timer whose command was applied earlier.
func (t *session) readPresent(it *item) error {
	return t.retryUntilDone("store", func(ctx context.Context) error {
		present, err := t.cfg.Store.Get(ctx, t.cfg.Clock(), it.command.ref)
		switch {
		case errors.Is(err, store.ErrNotFound):
			it.missing = true
			return nil
		case err != nil:
			return err
		}
		it.outcome = outcome{timer: &present}
		return nil
	})
}
