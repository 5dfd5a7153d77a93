package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// topicOutlives keeps the topic of a timer when it is replaced by one without a topic.
type topicOutlives struct{ broken }

func (b *topicOutlives) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ops = slices.Clone(ops)
	for i, op := range ops {
		put, ok := op.(store.Put)
		if !ok || put.Spec.Topic != "" {
			continue
		}
		if row, there := b.current(ctx, put.Ref); there {
			put.Spec.Topic, put.Spec.EventKey = row.Topic, row.EventKey
			ops[i] = put
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesATopicThatOutlivesAReplacement(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &topicOutlives{broken{Store: s}} },
		"Put/ReplaceKeepsCreatedAtAndNothingElse")
}

// commonTopic drops the topic and the key of dead timers, so a re-armed timer would have none.
type commonTopic struct{ broken }

func (b *commonTopic) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	t, err := b.Store.Get(ctx, now, ref)
	if t.Status == timer.StatusDead {
		t.Topic, t.EventKey = "", ""
	}
	return t, err
}

func (b *commonTopic) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	out, err := b.Store.Rearm(ctx, now, items)
	for i := range out {
		if out[i].Prior == nil {
			out[i].Timer.EventKey = ""
		}
	}
	return out, err
}

func TestSuiteCatchesDeadTimersWithoutTheirTopic(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &commonTopic{broken{Store: s}} },
		"Finish/ADeadTimerKeepsAllOfItself", "Rearm/ADeadTimerLivesAgain")
}

// bareCheck omits the event's key in the row check.
type bareCheck struct{ broken }

func (b *bareCheck) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	out, err := b.Store.Current(ctx, checks)
	for i := range out {
		out[i].Timer.EventKey = ""
	}
	return out, err
}

func TestSuiteCatchesARowCheckWithoutKeys(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &bareCheck{broken{Store: s}} }, "Put/MakesTheRow")
}

// oldTopics updates all settings of a namespace except its topics.
type oldTopics struct{ broken }

func (b *oldTopics) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, err := b.GetNamespace(ctx, ns.Name)
	if err != nil {
		return old, err
	}
	ns.Settings.EventTopics = old.Settings.EventTopics
	return b.Store.UpdateNamespace(ctx, ns)
}

func TestSuiteCatchesAnUpdateThatForgetsTopics(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &oldTopics{broken{Store: s}} },
		"Namespaces/EverySettingSurvives")
}

// oldConcurrency updates all settings of a namespace except its host concurrency.
type oldConcurrency struct{ broken }

func (b *oldConcurrency) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	old, err := b.GetNamespace(ctx, ns.Name)
	if err != nil {
		return old, err
	}
	ns.Settings.HostConcurrency = old.Settings.HostConcurrency
	return b.Store.UpdateNamespace(ctx, ns)
}

func TestSuiteCatchesAnUpdateThatForgetsHostConcurrency(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &oldConcurrency{broken{Store: s}} },
		"Namespaces/EverySettingSurvives")
}

// oldResults updates all settings of a namespace except the selection of result events.
type oldResults struct{ broken }

func (b *oldResults) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	old, err := b.GetNamespace(ctx, ns.Name)
	if err != nil {
		return old, err
	}
	ns.Settings.Results = old.Settings.Results
	return b.Store.UpdateNamespace(ctx, ns)
}

func TestSuiteCatchesAnUpdateThatForgetsResults(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &oldResults{broken{Store: s}} },
		"Namespaces/EverySettingSurvives")
}
