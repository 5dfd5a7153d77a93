package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const now = timer.Millis(1_800_000_000_000)

var block = shard.Block{Base: 0, Count: 16}

// eachServer runs a subtest on every server.
func eachServer(t *testing.T, run func(t *testing.T, address string)) {
	t.Helper()
	for _, name := range []string{"postgres", "postgres15"} {
		t.Run(name, func(t *testing.T) { run(t, testserver.Address(t, name)) })
	}
}

// newDatabase creates a database without a schema, which is dropped at the end of the test.
func newDatabase(tb testing.TB, address string) (inside string) {
	tb.Helper()
	return copyDatabase(tb, address, "template1")
}

// migrated creates a database with the schema.
func migrated(tb testing.TB, address string) (inside string) {
	tb.Helper()
	return copyDatabase(tb, address, templates.on(tb, address))
}

func copyDatabase(tb testing.TB, address, template string) (inside string) {
	tb.Helper()
	name := fmt.Sprintf("test_%d", rand.Uint64())
	execute(tb, address, "CREATE DATABASE "+name+" TEMPLATE "+template)
	tb.Cleanup(func() { execute(tb, address, "DROP DATABASE "+name+" WITH (FORCE)") })
	return urlOf(tb, address, name)
}

func urlOf(tb testing.TB, address, name string) string {
	tb.Helper()
	at, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

// templates are databases with the schema and no rows, one per server. Copying one takes a fraction of the time of the
// migrations. TestMain drops them.
var templates migratedTemplates

type migratedTemplates struct {
	mu    sync.Mutex
	names map[string]string // by server address
}

func (m *migratedTemplates) on(tb testing.TB, address string) (name string) {
	tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if name, made := m.names[address]; made {
		return name
	}
	name = fmt.Sprintf("template_%d", rand.Uint64())
	execute(tb, address, "CREATE DATABASE "+name)
	if m.names == nil {
		m.names = map[string]string{}
	}
	m.names[address] = name
	if _, _, err := Migrate(tb.Context(), Options{URL: urlOf(tb, address, name)}); err != nil {
		tb.Fatal(err)
	}
	return name
}

func (m *migratedTemplates) drop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	for address, name := range m.names {
		c, err := pgx.Connect(ctx, address)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		_, err = c.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		errs = append(errs, err, c.Close(ctx))
	}
	return errors.Join(errs...)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := templates.drop(); err != nil {
		fmt.Fprintln(os.Stderr, "drop the templates of test databases:", err)
		code = 1
	}
	os.Exit(code)
}

// execute runs statements on a new connection.
func execute(tb testing.TB, address string, statements ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), time.Minute) // cleanups call it, too
	defer cancel()
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close(ctx)
	for _, statement := range statements {
		if _, err := c.Exec(ctx, statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

func openStore(t *testing.T, address string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: address, MaxConns: 6, MinConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// putOf returns a create whose revision is computed from its id, so that an id always has the same revision.
func putOf(id string, executeAt timer.Millis) store.Put {
	uuid := timer.UUIDOf("default", id)
	revision := timer.Revision(1)
	for _, b := range uuid[:7] {
		revision = revision<<8 | timer.Revision(b)
	}
	return store.Put{
		Ref:       store.Ref{Shard: block.Place(id), UUID: uuid},
		Namespace: "default",
		ID:        id,
		Revision:  revision,
		Spec: timer.Spec{
			ExecuteAt:       executeAt,
			CallbackURL:     "http://127.0.0.1:9000/",
			CallbackTimeout: timer.DefaultCallbackTimeout,
			Retry:           timer.DefaultRetryPolicy(),
			Payload:         []byte(`{"n":1}`),
		},
	}
}

func finishOf(p store.Put, kind store.FinishKind) store.Finish {
	return store.Finish{
		Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Kind: kind,
		If:   store.Guard{Generation: timer.Generation(p.Revision)},
		Next: p.Revision + 1, NextAt: now + 1000,
		Record: store.Record{Attempt: 1, StartedAt: now, FinishedAt: now, StatusCode: 200, KeepFor: time.Hour},
	}
}

// seed writes n timers. A tenth of them is parked, a tenth done, and a tenth dead.
func seed(t *testing.T, s *Store, n int) {
	t.Helper()
	const batch = 10_000
	for from := 0; from < n; from += batch {
		var ops []store.Op
		var items []store.Finish
		for i := from; i < min(from+batch, n); i++ {
			p := putOf(fmt.Sprint("seed-", i), now+timer.Millis(i%997))
			if i%7 == 0 {
				p.Spec.CorrelationID = fmt.Sprint("correlation-", i%11)
			}
			ops = append(ops, p)
			kinds := [...]store.FinishKind{store.FinishDone, store.FinishDead, store.FinishParked}
			if i%10 < len(kinds) {
				items = append(items, finishOf(p, kinds[i%10]))
			}
		}
		if _, err := s.Write(t.Context(), now, ops); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Finish(t.Context(), now, items); err != nil {
			t.Fatal(err)
		}
	}
}
