package postgresstore

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestClaimsOfSchema7AreKept migrates a database with a claimed shard, a released one, one without a watermark, and a
// timer.
func TestClaimsOfSchema7AreKept(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := newDatabase(t, address)
		migrateTo(t, inside, 7)
		owner, uuid := timer.UUID{0xaa}, timer.UUID{0x80, 0xff}
		const columns = "INSERT INTO shards (shard_id, version, owner, watermark_due, watermark_uuid, published_due, published_uuid, claimed_at, updated_at, node) VALUES "
		zero := timer.UUID{}
		p := putOf("a", now)
		execute(t, inside,
			fmt.Sprintf(columns+"(1, 7, '%s', '2027-01-15 08:00:00.123Z', '%s', '-infinity', '%s', '2027-01-15Z', '2027-01-15Z', 'one')", owner, uuid, zero),
			fmt.Sprintf(columns+"(2, 3, NULL, '2027-01-15 08:00Z', '%s', '2027-01-15 09:00Z', '%s', '2027-01-15Z', '2027-01-15Z', 'two')", zero, uuid),
			fmt.Sprintf(columns+"(3, 1, '%s', '-infinity', '%s', '-infinity', '%s', '2027-01-15Z', '2027-01-15Z', 'one')", owner, zero, zero),
			fmt.Sprintf(`INSERT INTO timers (shard_id, due_at, timer_uuid, revision, generation, execute_at, created_at, updated_at,
				callback_timeout_ms, attempts, starts, last_status, status, namespace, timer_id, deliver, callback_url, retry_policy, last_error)
				VALUES (1, '2027-01-15 09:00Z', '%s', 5, 5, '2027-01-15 09:00Z', '2027-01-15Z', '2027-01-15Z', 30000, 0, 0, 0, 'scheduled', 'default', 'a', '',
				'http://h/', '4 0s 30s 2 1h0m0s', '')`, p.Ref.UUID))
		if _, err := Open(t.Context(), Options{URL: inside}); err == nil {
			t.Fatal("the store opens before the migration")
		}
		if _, after, err := Migrate(t.Context(), Options{URL: inside}); err != nil || after.Usable() != nil {
			t.Fatalf("migrate: %+v, %v", after, err)
		}
		s := openStore(t, inside)
		at := func(text string) timer.Millis {
			m, err := timer.ParseMillis(text)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		w1 := store.Key{DueAt: at("2027-01-15T08:00:00.123Z"), UUID: uuid}
		w2, p2 := store.Key{DueAt: at("2027-01-15T08:00:00Z")}, store.Key{DueAt: at("2027-01-15T09:00:00Z"), UUID: uuid}
		next := at("2027-01-15T09:00:00Z")
		states, err := s.Inspect(t.Context(), []shard.ID{1, 2, 3, 4})
		claimedAt := at("2027-01-15T00:00:00Z")
		want := []store.ShardState{
			{Shard: 1, Version: 7, Owner: store.Owner{Incarnation: owner, Node: "one"}, ClaimedAt: claimedAt, Held: true, Watermark: w1, Published: store.MinKey(), NextDueAt: next},
			{Shard: 2, Version: 3, Owner: store.Owner{Node: "two"}, ClaimedAt: claimedAt, Watermark: w2, Published: p2, NextDueAt: timer.Never},
			{Shard: 3, Version: 1, Owner: store.Owner{Incarnation: owner, Node: "one"}, ClaimedAt: claimedAt, Held: true, Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never},
			{Shard: 4, Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never},
		}
		for i := range want {
			if err != nil || states[i] != want[i] {
				t.Errorf("shard %d is %+v, %v; want %+v", i+1, states[i], err, want[i])
			}
		}
		// The claim of a process that was stopped without a release is still valid, and an older one is not.
		claim := store.Claim{Shard: 1, Version: 7, Owner: owner}
		older := store.Claim{Shard: 3, Version: 0, Owner: owner}
		moved := store.Key{DueAt: w1.DueAt + 1}
		errs, err := s.Advance(t.Context(), now, []store.Advance{{Claim: claim, Watermark: moved}, {Claim: older, Watermark: moved}})
		if err != nil || errs[0] != nil || !errors.Is(errs[1], store.ErrFenced) {
			t.Errorf("advance: %v, %v; want that of shard 3 fenced", errs, err)
		}
		due, err := s.Due(t.Context(), store.DueQuery{Shards: []store.DueAfter{{Claim: claim, After: moved}}, Horizon: next, PerShard: 10, Total: 10})
		if err != nil || len(due[0].Rows) != 1 || due[0].Rows[0].Ref.UUID != p.Ref.UUID {
			t.Errorf("due: %+v, %v", due, err)
		}
		claimed, err := s.Claim(t.Context(), now, store.Owner{Incarnation: timer.UUID{0xbb}}, []shard.ID{1, 2, 3, 4})
		for i, want := range []struct {
			version      int64
			w, published store.Key
		}{{8, moved, store.MinKey()}, {4, w2, p2}, {2, store.MinKey(), store.MinKey()}, {1, store.MinKey(), store.MinKey()}} {
			if err != nil || claimed[i].Claim.Version != want.version || claimed[i].Watermark != want.w || claimed[i].Published != want.published {
				t.Errorf("claimed %+v, %v; want %+v", claimed[i], err, want)
			}
		}
		if n := count(t, inside, "SELECT count(*) FROM watermarks"); n != 4 {
			t.Errorf("there are %d watermarks for 4 shards", n)
		}
	})
}

// migrateTo creates the schema of an older release.
func migrateTo(t *testing.T, inside string, version int64) {
	t.Helper()
	config, err := pgx.ParseConfig(inside)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	migrations, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithTableName(migrationsTable))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}
