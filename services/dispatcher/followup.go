package dispatcher

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// applySettings applies the namespace's settings to an outcome: how long history keeps it, and the follow-up of a final outcome
// (I19). publish says whether the result event is published. Without the settings, a final outcome that may have a follow-up is an error;
// others get the default settings.
func (s *Service) applySettings(d *delivery, f *store.Finish, result *event.Result) (publish bool, err error) {
	final := f.Kind == store.FinishDone || f.Kind == store.FinishDead
	_, occurrence := shard.ScheduleOf(d.row.ID)
	mayFollow := final && (occurrence || !shard.IsFollowUp(d.row.ID))
	ns, err := s.namespaceOf(d)
	switch {
	case err == nil:
	case mayFollow:
		return false, fmt.Errorf("read the settings of the namespace: %w", err)
	default:
		ns = &store.Namespace{Settings: store.DefaultSettings()}
	}
	setRetention(f, &ns.Settings)
	publish = ns.Settings.Results.Publishes(store.Outcome(result.Outcome))
	if !mayFollow {
		return publish, nil
	}
	return publish, s.addFollowUp(d, f, ns, result)
}

// setRetention sets how long history keeps an outcome, and whether it keeps the payload.
func setRetention(f *store.Finish, settings *store.Settings) {
	switch f.Kind {
	case store.FinishDead:
		f.Record.KeepFor = settings.DeadRetention
	case store.FinishDone:
		f.Record.KeepFor, f.Record.KeepPayload = settings.DoneRetention(), settings.KeepPayload > 0
	default:
		f.Record.KeepFor = settings.HistoryRetention
	}
}

// addFollowUp adds the call of an onDone or onDead URL to a final outcome, if the timer or its namespace has one. The call is a
// timer, whose payload is the result event. It has the retry policy and the callback timeout of the namespace.
func (s *Service) addFollowUp(d *delivery, f *store.Finish, ns *store.Namespace, result *event.Result) error {
	name, url := "done", cmp.Or(d.row.OnDone, ns.Settings.OnDone)
	if f.Kind == store.FinishDead {
		name, url = "dead", cmp.Or(d.row.OnDead, ns.Settings.OnDead)
	}
	if url == "" {
		return nil
	}
	payload, err := json.Marshal(result)
	if err != nil {
		return err
	}
	id := ns.Shards.FollowUpID(d.ref.Shard, name+":"+d.row.WebhookID())
	f.FollowUp = &store.Put{
		Ref: store.Ref{Shard: d.ref.Shard, UUID: timer.UUIDOf(ns.Name, id)}, Namespace: ns.Name, ID: id,
		Revision: s.config.Revisions.Next(),
		Spec: timer.Spec{
			ExecuteAt: f.Record.FinishedAt, CallbackURL: url, CallbackTimeout: ns.Settings.CallbackTimeout, Retry: ns.Settings.Retry,
			Payload: payload, CorrelationID: d.row.Correlation(),
		},
	}
	return nil
}

// hintFollowUp sends the scheduler a hint about a follow-up that was written. now is the time that the store got with the write:
// the due time of the hint is then that of the row.
func (s *Service) hintFollowUp(next *store.Put, now timer.Millis) {
	s.metrics.followUps.Inc()
	s.offerHint(&event.Hint{
		Shard: next.Ref.Shard, UUID: next.Ref.UUID, Revision: next.Revision, Generation: timer.Generation(next.Revision), Attempt: 1,
		DueAt: max(now, next.Spec.ExecuteAt), UpdatedAt: now, Target: next.Spec.Target(),
	})
}

// offerHint publishes a hint later, in a batch, or drops it if too many wait.
func (s *Service) offerHint(h *event.Hint) {
	m := bus.Message{
		Partition: shard.PartitionOf(h.Shard, s.config.Bus.Partitions()), Key: h.Shard.String(), Body: event.MarshalHint(*h),
	}
	if !s.hints.offer(m) {
		s.metrics.hintsLost.Inc()
	}
}
