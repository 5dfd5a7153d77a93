package dynamostore

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
)

// Store is the engine: one handle on the two tables. It is safe for concurrent use.
//
// A batch is one conditional write per item, without a transaction over all of them. So the engine does not implement
// store.Positions, and topic commands are applied at least once. It cannot count cheaply, so it does not implement
// store.Census.
type Store struct {
	client  *dynamodb.Client
	options Options // with defaults
	log     *slog.Logger

	writeRetries, transactRetries aws.Retryer

	meter *meter
	// writes counts the writes that may request a collection size.
	writes atomic.Uint64
	// slots bounds the concurrent requests.
	slots chan struct{}
	// maxLooked and maxShards bound a page of List.
	maxLooked, maxShards int

	calls engine.Calls
}

var (
	_ store.Store           = (*Store)(nil)
	_ store.ByShard         = (*Store)(nil)
	_ store.DeclaredFilters = (*Store)(nil)
	_ prometheus.Collector  = (*Store)(nil)
)

// ListFilters implements store.DeclaredFilters.
func (*Store) ListFilters() store.Filters { return store.AllFilters() }

// AsksByShard implements store.ByShard: a poll or a sweep is one Query per shard.
func (*Store) AsksByShard() bool { return true }

// Open connects to tables whose schema this program supports. Its errors are one line for operators: they name the
// table and the problem. Migrate creates the tables.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := newStore(ctx, o)
	if err != nil {
		return nil, err
	}
	schema, err := s.schema(ctx)
	if err == nil {
		err = schema.Usable()
		if schema.Version == 0 {
			err = fmt.Errorf("%w, or check table and region", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.options.where(), firstLine(err))
	}
	return s, nil
}

func newStore(ctx context.Context, o Options) (*Store, error) {
	o, err := withDefaults(o)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	metered := newMeter(o.Logger)
	told := observers{metered}
	if o.Observer != nil {
		told = append(told, o.Observer)
	}
	o.Observer = told
	client, err := connect(ctx, &o)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", o.where(), err)
	}
	return &Store{
		client: client, options: o, log: o.Logger, meter: metered,
		writeRetries: writeRetries(&o), transactRetries: transactRetries(&o),
		slots: make(chan struct{}, o.MaxRequests), maxLooked: maxLooked, maxShards: maxShards,
	}, nil
}

// Close implements store.Cluster. Closing again does nothing.
func (s *Store) Close() error { return s.calls.Close(func() error { return nil }) }
