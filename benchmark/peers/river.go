package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// riverDriver is River with a configuration of its worker, on PostgreSQL or on SQLite.
type riverDriver struct {
	sqlite  bool
	workers int
	config  river.Config
	// pool is the number of connections of the worker to PostgreSQL; 0 for the default of pgxpool.
	pool int32
}

// riverTuned takes jobs every 10 ms instead of once a second, and calls 512 at a time. Shorter intervals had fewer fires/s,
// longer ones more lateness.
var riverTuned = riverDriver{
	workers: 512, pool: 32,
	config: river.Config{FetchCooldown: 10 * time.Millisecond, FetchPollInterval: 10 * time.Millisecond},
}

// riverDefault has River's defaults and the number of workers of its documentation.
var riverDefault = riverDriver{workers: 100}

// riverSQLite is tuned like riverTuned. SQLite allows one writer, so River's documentation advises one connection.
var riverSQLite = riverDriver{sqlite: true, workers: riverTuned.workers, config: riverTuned.config}

// riverArgs are stored as JSON, whose fields PostgreSQL reorders.
type riverArgs struct {
	ID      string          `json:"timerId"`
	Due     string          `json:"executeAt"`
	Payload json.RawMessage `json:"payload"`
}

// Kind implements river.JobArgs.
func (riverArgs) Kind() string { return "timer" }

type riverWorker struct {
	river.WorkerDefaults[riverArgs]

	caller *caller
}

// Work implements river.Worker.
func (w *riverWorker) Work(ctx context.Context, job *river.Job[riverArgs]) error {
	body, err := json.Marshal(job.Args)
	if err != nil {
		return err
	}
	return w.caller.call(ctx, body)
}

// Client implements driver.
func (d riverDriver) Client(ctx context.Context, in surroundings) (client, string, error) {
	versions := moduleVersion("github.com/riverqueue/river")
	if d.sqlite {
		db, err := openSQLite(in.Folder)
		if err != nil {
			return nil, "", err
		}
		c, err := newRiverClient[*sql.Tx](riversqlite.New(db), db.Close)
		return c, versions + ", " + moduleVersion("modernc.org/sqlite"), err
	}
	pool, err := openPool(ctx, in.Servers["postgres"], int32(fullWorkload().Connections))
	if err != nil {
		return nil, "", err
	}
	var server string
	if err := pool.QueryRow(ctx, "SHOW server_version").Scan(&server); err != nil {
		return nil, "", err
	}
	c, err := newRiverClient[pgx.Tx](riverpgxv5.New(pool), closing(pool))
	return c, versions + ", PostgreSQL " + server, err
}

// Work implements driver.
func (d riverDriver) Work(ctx context.Context, in surroundings, ready func()) error {
	if d.sqlite {
		db, err := openSQLite(in.Folder)
		if err != nil {
			return err
		}
		return errors.Join(riverWork[*sql.Tx](ctx, d, riversqlite.New(db), in.Callback, ready), db.Close())
	}
	pool, err := openPool(ctx, in.Servers["postgres"], d.pool)
	if err != nil {
		return err
	}
	defer pool.Close()
	return riverWork[pgx.Tx](ctx, d, riverpgxv5.New(pool), in.Callback, ready)
}

func riverWork[T any](ctx context.Context, d riverDriver, on riverdriver.Driver[T], callback string, ready func()) error {
	migrator, err := rivermigrate.New(on, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	config := d.config
	config.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: d.workers}}
	config.Workers = river.NewWorkers()
	config.Logger = slog.New(slog.DiscardHandler)
	river.AddWorker(config.Workers, &riverWorker{caller: newCaller(callback, d.workers)})
	worker, err := river.NewClient(on, &config)
	if err != nil {
		return err
	}
	if err := worker.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	ready()
	<-ctx.Done()
	return worker.StopAndCancel(context.WithoutCancel(ctx))
}

// openSQLite opens a database that writes each commit to the disk.
func openSQLite(folder string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "river.db")+
		"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(30000)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func openPool(ctx context.Context, url string, connections int32) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if connections > 0 {
		config.MaxConns = connections
	}
	return pgxpool.NewWithConfig(ctx, config)
}

func closing(pool *pgxpool.Pool) func() error {
	return func() error { pool.Close(); return nil }
}

type riverClient[T any] struct {
	river *river.Client[T]
	done  func() error
}

func newRiverClient[T any](on riverdriver.Driver[T], done func() error) (client, error) {
	c, err := river.NewClient(on, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	return riverClient[T]{c, done}, err
}

func (c riverClient[T]) close() error { return c.done() }

func (c riverClient[T]) create(ctx context.Context, order creation) error {
	args := func(n int) (riverArgs, *river.InsertOpts) {
		var a riverArgs
		_ = json.Unmarshal(order.delivery(n), &a) // written by this program
		return a, &river.InsertOpts{ScheduledAt: order.at(n)}
	}
	return inCalls(ctx, &order, func(ctx context.Context, from, upto int) error {
		if order.Batch == 1 {
			a, at := args(from)
			_, err := c.river.Insert(ctx, a, at)
			return err
		}
		params := make([]river.InsertManyParams, 0, upto-from)
		for n := from; n < upto; n++ {
			a, at := args(n)
			params = append(params, river.InsertManyParams{Args: a, InsertOpts: at})
		}
		_, err := c.river.InsertManyFast(ctx, params)
		return err
	})
}
