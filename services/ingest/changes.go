package ingest

import (
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
)

// addChanges adds the changes of a write to the log. A write with an unknown outcome is not among them.
func (s *Service) addChanges(b commit.Batch) {
	all := make([]changes.Change, 0, len(b.Ops))
	for i, op := range b.Ops {
		if b.ErrOf(i) != nil || b.Written[i].Err != nil || b.Written[i].Kept {
			continue
		}
		w := &b.Written[i]
		all = append(all, changeOf(typeOf(op, w), &w.Timer, b.Now))
	}
	s.cfg.Changes.Add(all...)
}

func typeOf(op store.Op, w *store.Written) changes.Type {
	switch op.(type) {
	case store.Put:
		if w.Prior != nil {
			return changes.Replaced
		}
		return changes.Created
	case store.Delete:
		return changes.Deleted
	case store.Pause:
		return changes.Paused
	case store.Resume:
		return changes.Resumed
	default:
		return changes.Updated
	}
}

func changeOf(what changes.Type, t *timer.Timer, at timer.Millis) changes.Change {
	return changes.Change{Type: what, Namespace: t.Namespace, ID: t.ID, Status: t.Status, Generation: t.Generation, At: at}
}
