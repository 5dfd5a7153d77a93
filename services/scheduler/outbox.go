package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Marked dead timers in history and marked parked rows are an outbox (I14). The dispatcher publishes an entry first; the
// owner of the shard publishes the entries that are still marked after 5 s.

const (
	// outboxPageSize bounds the entries of one read, without the refused ones.
	outboxPageSize = 100
	// maxRefusedEntries bounds the refused entries that are read in addition to a page. If a shard has more refused
	// entries, the oldest ones may fill every page that includes this shard.
	maxRefusedEntries = 100
)

// outboxResult is the result of one page.
type outboxResult struct {
	// refused are the entries that the bus did not accept.
	refused map[store.OutboxID]bool
	// more: there may be more entries.
	more bool
}

func (s *session) publishOutbox(now timer.Millis) {
	asked, before, refused := now, now.Add(-s.config.OutboxAfter), s.refusedEntries
	shards, all := s.outboxShards()
	s.runIO(opOutbox, func(ctx context.Context) func(timer.Millis) {
		answer, err := s.publishOutboxPage(ctx, shards, now, before, refused)
		return func(now timer.Millis) {
			s.refusedEntries = answer.refused
			switch {
			case err != nil:
				s.failed(opOutbox, now, err)
				return
			case answer.more:
				s.succeeded(opOutbox, now)
			default:
				s.succeeded(opOutbox, now.Add(s.config.OutboxAfter))
			}
			if all {
				s.outboxReadAt = asked
			}
		}
	})
}

// outboxShards returns the shards of the next page. all is set if they are all shards of the session. The store may fill
// a page with the first of them, so each page begins with another shard. If refused entries may fill a page, every
// second page leaves out their shards, so that a shard delays no other.
func (s *session) outboxShards() (shards []shard.ID, all bool) {
	held := s.state.Shards()
	if len(held) == 0 {
		return nil, true
	}
	maps.DeleteFunc(s.refusedEntries, func(id store.OutboxID, _ bool) bool { return !slices.Contains(held, id.Ref.Shard) })
	s.outboxPages++
	first := s.outboxPages % len(held)
	shards = slices.Concat(held[first:], held[:first])
	if len(s.refusedEntries) < maxRefusedEntries || s.outboxPages%2 == 0 {
		return shards, true
	}
	refused := map[shard.ID]bool{}
	for id := range s.refusedEntries {
		refused[id.Ref.Shard] = true
	}
	others := slices.DeleteFunc(slices.Clone(shards), func(id shard.ID) bool { return refused[id] })
	if len(others) == 0 {
		return shards, true
	}
	return others, false
}

// publishOutboxPage publishes the marked entries in one batch. Entries that were refused before are published one by
// one. If the bus refuses the batch, its entries are published one by one, too, so that a bad entry delays no others.
// It returns an error if no entry was published.
func (s *session) publishOutboxPage(
	ctx context.Context, shards []shard.ID, now, before timer.Millis, refused map[store.OutboxID]bool,
) (outboxResult, error) {
	limit := outboxPageSize + min(len(refused), maxRefusedEntries)
	entries, err := s.config.Store.Outbox(ctx, shards, before, limit)
	if err != nil || len(entries) == 0 {
		return outboxResult{refused: refused}, err
	}
	var together, apart []*store.OutboxEntry
	for i := range entries {
		if refused[entries[i].ID] {
			apart = append(apart, &entries[i])
		} else {
			together = append(together, &entries[i])
		}
	}
	done, left, failure := s.publishEntries(ctx, now, together)
	apart = append(left, apart...)
	answer := outboxResult{refused: map[store.OutboxID]bool{}}
	for id := range refused {
		if !slices.Contains(shards, id.Ref.Shard) {
			answer.refused[id] = true // not in this page
		}
	}
	others := len(answer.refused)
	for _, n := range apart {
		err := ctx.Err()
		if err == nil {
			err = s.publishEntry(ctx, now, n)
		}
		if err == nil {
			done++
			continue
		}
		failure = cmp.Or(failure, err)
		if ctx.Err() == nil || refused[n.ID] { // without time left, the entry may be a good one
			answer.refused[n.ID] = true
		}
	}
	if done == 0 {
		return answer, failure
	}
	s.metrics.outboxRefused.WithLabelValues("retried").Add(float64(len(answer.refused) - others))
	if len(answer.refused) > len(refused) {
		s.log.Warn("bus refused events of dead or parked timers, retrying", "timers", len(answer.refused), "error", failure)
	}
	answer.more = len(entries) == limit
	return answer, nil
}

// publishEntries publishes entries together and removes them from the outbox. It returns how many were published, and
// the entries that the bus refused.
func (s *session) publishEntries(
	ctx context.Context, now timer.Millis, entries []*store.OutboxEntry,
) (done int, left []*store.OutboxEntry, err error) {
	if len(entries) == 0 {
		return 0, nil, nil
	}
	// If the bus hangs on an entry, half of the time remains for publishing one by one.
	publish, cancel := context.WithTimeout(ctx, s.config.CallTimeout/2)
	defer cancel()
	err = s.publishEntryEvents(publish, event.NoticeOf, now, entries...)
	var ids []store.OutboxID
	for i, n := range entries {
		if bus.ErrorOf(err, i) == nil {
			ids = append(ids, n.ID)
		} else {
			left = append(left, n)
		}
	}
	if len(ids) == 0 {
		return 0, left, err
	}
	s.metrics.outboxPublished.Add(float64(len(ids)))
	if failed := s.config.Store.RemoveFromOutbox(ctx, ids); failed != nil {
		return 0, left, failed
	}
	return len(ids), left, err
}

// publishEntry publishes one entry and removes it from the outbox. If the event is too large for the bus, it is published without
// its payload. If it is still too large, it can never be published, and is only removed: history and list still
// have the timer.
func (s *session) publishEntry(ctx context.Context, now timer.Millis, n *store.OutboxEntry) error {
	// If the bus hangs on this entry, time remains for others.
	publish, cancel := context.WithTimeout(ctx, s.config.CallTimeout/4)
	defer cancel()
	err := s.publishEntryEvents(publish, event.NoticeOf, now, n)
	if errors.Is(err, bus.ErrTooLarge) {
		err = s.publishEntryEvents(publish, event.NoticeWithoutPayload, now, n)
	}
	switch {
	case errors.Is(err, bus.ErrTooLarge):
		s.metrics.outboxRefused.WithLabelValues("dropped").Inc()
		s.log.Error("event of a dead or parked timer is too large for the bus, dropped",
			"namespace", n.Timer.Namespace, "timer", n.Timer.ID, "status", string(n.Timer.Status), "error", err)
	case err != nil:
		return fmt.Errorf("timer %q of namespace %q: %w", n.Timer.ID, n.Timer.Namespace, err)
	default:
		s.metrics.outboxPublished.Inc()
	}
	return s.config.Store.RemoveFromOutbox(ctx, []store.OutboxID{n.ID})
}

// publishEntryEvents publishes the events of entries. Their ids let the bus drop events that it already accepted in an
// attempt whose answer was lost.
func (s *session) publishEntryEvents(
	ctx context.Context, eventOf func(source string, t *timer.Timer, at timer.Millis) (event.CloudEvent, error),
	now timer.Millis, entries ...*store.OutboxEntry,
) error {
	messages := make([]bus.Message, len(entries))
	for i, n := range entries {
		e, err := eventOf(s.config.Source, &n.Timer, now)
		if err != nil {
			return err
		}
		headers, body, err := e.Encode(s.config.Format)
		if err != nil {
			return err
		}
		messages[i] = bus.Message{Partition: s.partition, Key: e.Subject, ID: e.ID, Headers: headers, Body: body}
	}
	if _, err := s.config.Bus.Publish(ctx, bus.Dead, messages...); err != nil {
		return fmt.Errorf("publish %d outbox entries: %w", len(messages), err)
	}
	return nil
}
