package memstore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

type topicPartition struct {
	topic     string
	partition int
}

// WriteAt implements store.Positions.
func (s *Store) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	if err := s.lock(ctx, "write at position"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	at := topicPartition{move.Topic, move.Partition}
	if present := s.db.positions[at]; present != move.From {
		return nil, fmt.Errorf("write at position: %s/%d is at %v, not %v: %w",
			move.Topic, move.Partition, present, move.From, store.ErrConflict)
	}
	s.db.positions[at] = move.To
	return s.db.write(now, ops), nil
}

// Position implements store.Positions.
func (s *Store) Position(ctx context.Context, topic string, partition int) (store.Position, error) {
	if err := s.lock(ctx, "position"); err != nil {
		return store.Position{}, err
	}
	defer s.db.mu.Unlock()
	return s.db.positions[topicPartition{topic, partition}], nil
}
