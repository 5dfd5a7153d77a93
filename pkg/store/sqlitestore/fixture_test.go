package sqlitestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const now = timer.Millis(1_800_000_000_000)

var block = shard.Block{Base: 0, Count: 16}

// NewFolder returns a data folder with an empty database. It copies one, because the migrations take a second under the
// race detector.
func NewFolder(tb testing.TB) string {
	tb.Helper()
	text, err := emptyDatabase()
	folder := tb.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, databaseName), text, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return folder
}

var emptyDatabase = sync.OnceValues(func() (text []byte, err error) {
	folder, err := os.MkdirTemp("", "timerbus-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s, err := Open(context.Background(), Options{Folder: folder})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil { // copies the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(filepath.Join(folder, databaseName))
})

func openFolder(tb testing.TB, o Options) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}

// execute runs a statement in a transaction of the writer.
func execute(tb testing.TB, s *Store, statement string) {
	tb.Helper()
	err := s.write(tb.Context(), "execute", 1, 0, func(c *conn) error {
		_, err := c.exec(statement)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
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

func mustWrite(tb testing.TB, s *Store, ops ...store.Op) {
	tb.Helper()
	written, err := s.Write(tb.Context(), now, ops)
	if err != nil {
		tb.Fatal(err)
	}
	for i, w := range written {
		if w.Err != nil {
			tb.Fatalf("operation %d: %v", i, w.Err)
		}
	}
}
