package memstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Database is the data that all handles share. It outlives its handles, as a database server outlives its clients.
type Database struct {
	clock timer.Clock

	// One lock makes every call atomic, batches included. The contract promises less, and storetest does not rely on
	// it.
	mu         sync.Mutex
	identity   *store.Identity
	namespaces map[string]store.Namespace
	nextBase   uint64
	shards     map[shard.ID]*shardState
	expiry     sorted[expiryKey, *historyRow] // history without outbox entries
	positions  map[topicPartition]store.Position
	apiKeys    map[string]store.APIKey
	flows      map[store.FlowKey]store.Flow
}

// NewDatabase returns an empty database with the machine's clock.
func NewDatabase() *Database { return NewDatabaseAt(timer.SystemClock) }

// NewDatabaseAt returns an empty database with the given clock.
func NewDatabaseAt(clock timer.Clock) *Database {
	return &Database{
		clock:      clock,
		namespaces: map[string]store.Namespace{},
		shards:     map[shard.ID]*shardState{},
		positions:  map[topicPartition]store.Position{},
		apiKeys:    map[string]store.APIKey{},
		flows:      map[store.FlowKey]store.Flow{},
	}
}

// Open returns a new handle. Each process has one. Each handle is closed separately, and its writes are visible to the
// other handles immediately.
func (db *Database) Open() *Store { return &Store{db: db} }

// Store is one handle on a Database.
type Store struct {
	db     *Database
	closed bool // under db.mu
}

var (
	_ store.Store           = (*Store)(nil)
	_ store.Positions       = (*Store)(nil)
	_ store.APIKeys         = (*Store)(nil)
	_ store.Flows           = (*Store)(nil)
	_ store.Census          = (*Store)(nil)
	_ store.DeclaredFilters = (*Store)(nil)
)

// lock begins a call. If it fails, the call has no effect.
func (s *Store) lock(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	s.db.mu.Lock()
	if s.closed {
		s.db.mu.Unlock()
		return fmt.Errorf("%s: %w", op, store.ErrClosed)
	}
	return nil
}

// Init implements store.Cluster.
func (s *Store) Init(ctx context.Context, want store.Identity) (store.Identity, error) {
	if err := s.lock(ctx, "init cluster"); err != nil {
		return store.Identity{}, err
	}
	defer s.db.mu.Unlock()
	if s.db.identity == nil {
		s.db.identity = &want
	}
	return *s.db.identity, nil
}

// Ping implements store.Cluster.
func (s *Store) Ping(ctx context.Context) error {
	err := s.lock(ctx, "ping")
	if err == nil {
		s.db.mu.Unlock()
	}
	return err
}

// Time implements store.Cluster.
func (s *Store) Time(ctx context.Context) (store.Instant, error) {
	if err := s.lock(ctx, "time"); err != nil {
		return store.Instant{}, err
	}
	s.db.mu.Unlock()
	return store.Instant{At: s.db.clock(), Within: time.Millisecond}, nil
}

// Close implements store.Cluster. Closing again does nothing.
func (s *Store) Close() error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.closed = true
	return nil
}
