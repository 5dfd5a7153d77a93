package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// The database file, and the lock file. The process that has locked it is the only one that uses the database.
	databaseName = "timerbus.db"
	lockName     = "timerbus.lock"
)

// Store is the engine. It is safe for concurrent use.
type Store struct {
	*core

	lock    *os.File
	writer  *writer
	readers *readers
	log     *slog.Logger
	clock   timer.Clock
	written sync.WaitGroup // the writer's goroutine

	calls engine.Calls
}

var (
	_ store.Store           = (*Store)(nil)
	_ store.Positions       = (*Store)(nil)
	_ store.Census          = (*Store)(nil)
	_ store.DeclaredFilters = (*Store)(nil)
	_ store.Exclusive       = (*Store)(nil)
)

// Open locks the folder for this process, creates or migrates the database in it, and starts the writer. Its errors are
// for operators: they name the folder and the problem.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	lock, err := takeFolder(o.Folder)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	path := filepath.Join(o.Folder, databaseName)
	s := &Store{lock: lock, log: o.Logger.With("component", "sqlitestore"), clock: o.Clock}
	s.core = relational.New(database{s}, statements, cursors)
	if err := migrate(ctx, path, o.CacheMiB, s.log); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	if err := s.start(ctx, path, o); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return s, nil
}

func takeFolder(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("data folder %s cannot be created: %w", folder, err)
	}
	lock, err := lockFile(filepath.Join(folder, lockName))
	switch {
	case errors.Is(err, errLocked):
		return nil, fmt.Errorf("data folder %s is in use by another process: stop that process, or use a different folder", folder)
	case err != nil:
		return nil, fmt.Errorf("data folder %s cannot be written to: %w", folder, err)
	}
	return lock, nil
}

func (s *Store) start(ctx context.Context, path string, o Options) error {
	// If the log has grown beyond the bound, it is truncated when SQLite starts again at its beginning.
	db, err := openDB(path, o.CacheMiB, fmt.Sprintf("journal_size_limit(%d)", o.WALMiB<<20))
	if err != nil {
		return err
	}
	c, err := connect(ctx, db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	readDB, err := openDB(path, o.CacheMiB, "query_only(1)")
	if err != nil {
		c.discard()
		return errors.Join(err, db.Close())
	}
	s.readers = newReaders(readDB, o.Readers, o.LongReaders)
	wal := walBound{path: path + "-wal", limit: int64(o.WALMiB) << 20, readers: s.readers, log: s.log}
	s.writer = &writer{
		db:          db,
		conn:        c,
		queue:       make(chan *request, o.Queue),
		groupRows:   o.GroupRows,
		groupBytes:  o.GroupBytes,
		afterCommit: wal.keep,
	}
	s.written.Go(s.writer.run)
	return nil
}

// Close implements store.Cluster. Closing again does nothing.
func (s *Store) Close() error { return s.calls.Close(s.release) }

func (s *Store) release() error {
	close(s.writer.queue)
	s.written.Wait()
	// The last connection that is closed copies the log into the database file.
	errs := []error{s.readers.close()}
	if s.writer.conn != nil {
		errs = append(errs, s.writer.conn.close())
	}
	errs = append(errs, s.writer.db.Close(), s.lock.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// Ping implements store.Cluster.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.findRoom(ctx); err != nil {
		return err
	}
	return s.read(ctx, "ping", func(c *conn) error {
		var one int
		return c.one("SELECT 1", nil, &one)
	})
}

// Time implements store.Cluster. The database's clock is Options.Clock.
func (s *Store) Time(ctx context.Context) (store.Instant, error) {
	if err := s.calls.Enter(ctx, "time"); err != nil {
		return store.Instant{}, err
	}
	defer s.calls.Leave()
	return store.Instant{At: s.clock(), Within: time.Millisecond}, nil
}
