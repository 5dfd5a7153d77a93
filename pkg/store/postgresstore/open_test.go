package postgresstore

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestOpenRefuses: each error is one line that names the server and the problem, and does not contain the password.
func TestOpenRefuses(t *testing.T) {
	newest := newestSchema(t)
	eachServer(t, func(t *testing.T, address string) {
		for _, c := range []struct {
			name    string
			prepare func(t *testing.T) (address string)
			want    []string
		}{
			{"no address", func(*testing.T) string { return "" }, []string{"store", "postgres://"}},
			{
				"an address that cannot be read",
				func(*testing.T) string { return "postgres://user:secret@host:port/db" },
				[]string{"cannot be read", "postgres://user:password@host:port/database"},
			},
			{"nobody listening at either address", func(t *testing.T) string {
				return with(t, nobodyListens(t), func(u *url.URL) { u.RawQuery = "sslmode=prefer" })
			}, []string{"does not answer", "refused"}},
			{"nobody listening", nobodyListens, []string{"does not answer", "refused"}},
			{"a host that is not there", func(*testing.T) string {
				return "postgres://u:secret@timerbus.invalid:5432/db"
			}, []string{"does not answer", "timerbus.invalid"}},
			{"a missing database", func(t *testing.T) string {
				return with(t, address, func(u *url.URL) { u.Path = "/nowhere" })
			}, []string{"nowhere", "does not exist", "timerbus migrate up"}},
			{"a user that is not there", func(t *testing.T) string {
				return with(t, address, func(u *url.URL) { u.User = url.UserPassword("stranger", "secret") })
			}, []string{"stranger", "rejects this user"}},
			{"no schema", func(t *testing.T) string { return newDatabase(t, address) }, []string{"no schema yet", "timerbus migrate up"}},
			{"an older schema", func(t *testing.T) string {
				inside := migrated(t, address)
				execute(t, inside, "DELETE FROM "+migrationsTable+" WHERE version_id > 1")
				return inside
			}, []string{"version 1", "needs " + fmt.Sprint(newest), "timerbus migrate up"}},
			{"a newer schema", func(t *testing.T) string {
				inside := migrated(t, address)
				execute(t, inside, "INSERT INTO "+migrationsTable+" (version_id, is_applied) VALUES (99, true)",
					"INSERT INTO schema_support VALUES (99, 98, '3.1')")
				return inside
			}, []string{"version 99", "up to " + fmt.Sprint(newest), "timerbus 3.1 or newer"}},
			{"read-only", func(t *testing.T) string {
				return with(t, migrated(t, address), func(u *url.URL) { u.RawQuery += "&default_transaction_read_only=on" })
			}, []string{"read-only", "primary"}},
			{"a pooler that drops settings", func(t *testing.T) string {
				w := newWire(t, migrated(t, address))
				w.rewrite.Store(func(said []byte) []byte {
					return bytes.Replace(said, []byte("lock_timeout\x003s\x00"), []byte("lock_timeout\x009s\x00"), 1)
				})
				return w.address
			}, []string{"lock_timeout", "connect to the server itself"}},
			{"a search path that leads nowhere", func(t *testing.T) string {
				return with(t, migrated(t, address), func(u *url.URL) { u.RawQuery += "&search_path=nowhere" })
			}, []string{"search_path", "GRANT USAGE"}},
			{"missing rights", func(t *testing.T) string {
				inside := migrated(t, address)
				role := fmt.Sprintf("guest_%d", rand.Uint64())
				execute(t, inside, "CREATE ROLE "+role+" LOGIN",
					"GRANT SELECT ON schema_support, "+migrationsTable+" TO "+role,
					"GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys, flows, claims, watermarks, namespaces, positions, cluster, timers TO "+role)
				t.Cleanup(func() { execute(t, inside, "DROP OWNED BY "+role, "DROP ROLE "+role) })
				return with(t, inside, func(u *url.URL) { u.User = url.User(role) })
			}, []string{"may not read and write timer_history", "GRANT"}},
			{"no right to look for room on the disk", func(t *testing.T) string {
				inside := migrated(t, address)
				role := fmt.Sprintf("guest_%d", rand.Uint64())
				execute(t, inside, "CREATE ROLE "+role+" LOGIN",
					"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role, "REVOKE INSERT ON room FROM "+role)
				t.Cleanup(func() { execute(t, inside, "DROP OWNED BY "+role, "DROP ROLE "+role) })
				return with(t, inside, func(u *url.URL) { u.User = url.User(role) })
			}, []string{"may not read and write room", "GRANT"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				bad := c.prepare(t)
				s, err := Open(t.Context(), Options{URL: bad})
				if err == nil {
					s.Close()
					t.Fatal("it opens")
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q does not say %q", err, want)
					}
				}
				if strings.Count(err.Error(), "dial error") > 1 {
					t.Errorf("it is told twice: %q", err)
				}
				if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
					t.Errorf("more than a line, or the password: %q", err)
				}
			})
		}
	})
}

func newestSchema(t *testing.T) int64 {
	t.Helper()
	newest, err := relational.NewestSchema(embedded)
	if err != nil {
		t.Fatal(err)
	}
	return newest
}

func with(t *testing.T, address string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func nobodyListens(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "postgres://u:secret@" + l.Addr().String() + "/db"
}

// TestRefusedTranslatesCodes covers errors that a server with trust authentication does not return.
func TestRefusedTranslatesCodes(t *testing.T) {
	for code, want := range map[string]string{
		wrongPassword: "password is wrong", notAuthorized: "rejects this user", insufficientRights: "lacks rights",
		undefinedTable: "timerbus migrate up", "XX000": "SQLSTATE XX000",
	} {
		cause := &pgconn.PgError{Severity: "FATAL", Code: code, Message: "what it\nsays"}
		err := refused("postgres://u@h:1/d", fmt.Errorf("connect: %w", cause))
		if !strings.Contains(err.Error(), want) || !errors.Is(err, cause) {
			t.Errorf("%s: %q, want it to say %q", code, err, want)
		}
	}
}

// TestRefusedKnowsPoolers: it recognizes pgbouncer's error.
func TestRefusedKnowsPoolers(t *testing.T) {
	for message, want := range map[string]bool{"unsupported startup parameter: lock_timeout": true, "invalid message format": false} {
		err := refused("postgres://u@h:1/d", &pgconn.PgError{Severity: "FATAL", Code: protocolViolation, Message: message})
		if got := strings.Contains(err.Error(), "connect to the server itself"); got != want || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %q", message, err)
		}
	}
}

func TestServersThatWouldLoseTimersAreRefused(t *testing.T) {
	good := server{version: 150_003, fsync: true, fullPages: true, usable: true, synchronousCommit: "on"}
	if err := good.refuse(false); err != nil || len(good.doubts()) != 0 {
		t.Fatalf("a good server: %v, %q", err, good.doubts())
	}
	for want, spoil := range map[string]func(s *server){
		"want 15 or newer":     func(s *server) { s.version = 140_012 },
		"fsync=off":            func(s *server) { s.fsync = false },
		"full_page_writes=off": func(s *server) { s.fullPages = false },
		"read-only":            func(s *server) { s.readOnly = true },
		"no rights":            func(s *server) { s.usable = false },
	} {
		s := good
		spoil(&s)
		if err := s.refuse(false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
		if allowed := s.refuse(true) == nil; allowed != (!s.fsync || !s.fullPages) {
			t.Errorf("%s: allowed if told so: %t", want, allowed)
		}
	}
	for _, c := range []struct {
		commits         string
		named, replicas bool
		doubts          int
	}{
		{"on", true, true, 0},
		{"remote_apply", true, true, 0},
		{"on", true, false, 0},
		{"on", false, true, 1},
		{"local", true, true, 1},
		{"off", true, true, 1},
		{"off", false, true, 2},
	} {
		s := good
		s.synchronousCommit, s.named, s.replicas = c.commits, c.named, c.replicas
		if got := s.doubts(); len(got) != c.doubts {
			t.Errorf("%+v: doubts: %q", c, got)
		}
	}
}

func TestOpenWarns(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		var log bytes.Buffer
		inside := with(t, migrated(t, address), func(u *url.URL) { u.RawQuery += "&synchronous_commit=off" })
		s, err := Open(t.Context(), Options{URL: inside, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if !strings.Contains(log.String(), "synchronous_commit is off") {
			t.Errorf("the log says %q", log.String())
		}
	})
}

// TestOpenWarnsOfReplicas: Open logs a warning if no commit waits for the replicas. A client that connects with the
// replication protocol is listed as a replica.
func TestOpenWarnsOfReplicas(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		config, err := pgconn.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		config.RuntimeParams["replication"] = "true"
		replica, err := pgconn.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer replica.Close(t.Context())
		var log bytes.Buffer
		s, err := Open(t.Context(), Options{URL: inside, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if !strings.Contains(log.String(), "replicas are asynchronous") {
			t.Errorf("the log says %q", log.String())
		}
	})
}

// TestMigrate migrates an empty database from many processes at the same time, and then again, which changes nothing.
func TestMigrate(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		newest := newestSchema(t)
		inside := newDatabase(t, address)
		schema, err := Status(t.Context(), Options{URL: inside})
		if err != nil || schema.Version != 0 || schema.Known != newest || schema.Usable() == nil {
			t.Fatalf("status of an empty database: %+v, %v", schema, err)
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if _, after, err := Migrate(t.Context(), Options{URL: inside}); err != nil || after.Version != after.Known {
					t.Errorf("migrate: %+v, %v", after, err)
				}
			})
		}
		group.Wait()
		before, after, err := Migrate(t.Context(), Options{URL: inside})
		if err != nil || before != after || after.Usable() != nil || after.OldestProgram == "" {
			t.Errorf("migrate again: %+v, %+v, %v", before, after, err)
		}
		// A newer schema is not changed. It can be used if its oldest compatible schema allows it.
		execute(t, inside, fmt.Sprintf("INSERT INTO %s (version_id, is_applied) VALUES (%d, true)", migrationsTable, newest+1),
			fmt.Sprintf("INSERT INTO schema_support VALUES (%d, %d, '0.2')", newest+1, newest))
		if _, after, err = Migrate(t.Context(), Options{URL: inside}); err != nil || after.Version != newest+1 {
			t.Errorf("migrate a newer schema: %+v, %v", after, err)
		}
		openStore(t, inside)
	})
}

// TestMigrateSaysWhatIsInTheWay: the error names the obstacle, and does not advise to run the migration.
func TestMigrateSaysWhatIsInTheWay(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		taken := newDatabase(t, address)
		execute(t, taken, "CREATE TABLE cluster (one integer)")
		nowhere := with(t, newDatabase(t, address), func(u *url.URL) { u.RawQuery += "&search_path=nowhere" })
		for at, want := range map[string]string{taken: `upgrade the schema from version 0 to`, nowhere: "search_path"} {
			_, _, err := Migrate(t.Context(), Options{URL: at})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "migrate up") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want it to say %q", err, want)
			}
		}
	})
}

// TestMigrateTakesItsTime: the statement_timeout of the user does not apply to migrations. The reads of the schema's version
// before and after have to observe it. An event trigger delays the first statement of the migration by more.
func TestMigrateTakesItsTime(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		t.Parallel()
		inside := newDatabase(t, address)
		role := fmt.Sprintf("hasty_%d", rand.Uint64())
		execute(t, inside, "CREATE ROLE "+role+" LOGIN", "GRANT CREATE ON SCHEMA public TO "+role,
			"ALTER ROLE "+role+" SET statement_timeout = '1s'",
			"CREATE SEQUENCE changes",
			"CREATE FUNCTION delay() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS "+
				"$$ BEGIN IF nextval('public.changes') = 1 THEN PERFORM pg_sleep(1.2); END IF; END $$",
			"CREATE EVENT TRIGGER delay ON ddl_command_start EXECUTE FUNCTION delay()")
		t.Cleanup(func() { execute(t, inside, "DROP OWNED BY "+role, "DROP ROLE "+role) })
		at := with(t, inside, func(u *url.URL) { u.User = url.User(role) })
		before := time.Now()
		if _, _, err := Migrate(t.Context(), Options{URL: at}); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took < 1200*time.Millisecond {
			t.Errorf("took %s: the trigger has not delayed it, so this proves nothing", took)
		}
	})
}

func TestPoolSizes(t *testing.T) {
	for _, c := range []struct {
		o        Options
		max, min int32
	}{
		{Options{URL: "postgres://h/d"}, 16, 2},
		{Options{URL: "postgres://h/d?pool_max_conns=40&pool_min_conns=7"}, 40, 7},
		{Options{URL: "postgres://h/d?pool_max_conns=40", MaxConns: 8, MinConns: 3}, 8, 3},
	} {
		config, err := c.o.pool()
		if err != nil || config.MaxConns != c.max || config.MinConns != c.min {
			t.Errorf("%+v: %d to %d connections, %v; want %d to %d", c.o, config.MinConns, config.MaxConns, err, c.min, c.max)
		}
	}
}

// TestTheURLAllowsAnUnsafeServer: the URL's parameter sets the option and is not sent to the server.
func TestTheURLAllowsAnUnsafeServer(t *testing.T) {
	for parameter, want := range map[string]bool{"?sslmode=disable": false, "?allow_unsafe=true": true, "?allow_unsafe=false": false} {
		o := Options{URL: "postgres://h/d" + parameter}
		config, err := o.pool()
		if err != nil || o.AllowUnsafe != want {
			t.Errorf("%s: allowed is %t, %v", parameter, o.AllowUnsafe, err)
			continue
		}
		if _, heard := config.ConnConfig.RuntimeParams[unsafeParameter]; heard {
			t.Errorf("%s: it is sent to the server", parameter)
		}
	}
	var invalid *timer.InvalidError
	if _, err := (&Options{URL: "postgres://h/d?allow_unsafe=perhaps"}).pool(); !errors.As(err, &invalid) {
		t.Errorf("got %v, want an InvalidError", err)
	}
}

func TestConnectTimeout(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want time.Duration
	}{
		{Options{URL: "postgres://h/d"}, 5 * time.Second},
		{Options{URL: "postgres://h/d?connect_timeout=3"}, 3 * time.Second},
		{Options{URL: "postgres://h/d?connect_timeout=3", ConnectTimeout: time.Second}, time.Second},
	} {
		config, err := c.o.pool()
		if err != nil || config.ConnConfig.ConnectTimeout != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.o, config.ConnConfig.ConnectTimeout, err, c.want)
		}
	}
}

// TestAUserWhoOwnsNothing: a user who does not own the tables may read and write, and Open logs a warning about
// history.
func TestAUserWhoOwnsNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		role := fmt.Sprintf("guest_%d", rand.Uint64())
		execute(t, inside, "CREATE ROLE "+role+" LOGIN", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role)
		t.Cleanup(func() { execute(t, inside, "DROP OWNED BY "+role, "DROP ROLE "+role) })
		guest := with(t, inside, func(u *url.URL) { u.User = url.User(role) })
		var log bytes.Buffer
		s, err := Open(t.Context(), Options{URL: guest, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !strings.Contains(log.String(), "deleted row by row") {
			t.Errorf("the log says %q", log.String())
		}
		if _, err := s.Purge(t.Context(), now, 10); err != nil {
			t.Errorf("purge: %v", err)
		}
		execute(t, inside, "REVOKE DELETE ON timer_history_default FROM "+role)
		if _, err := Open(t.Context(), Options{URL: guest}); err == nil || !strings.Contains(err.Error(), "timer_history_default") {
			t.Errorf("without the right to delete there: %v", err)
		}
	})
}

func TestOptionsOutsideTheirBounds(t *testing.T) {
	for _, o := range []Options{{MaxConns: 1}, {MaxConns: 1001}, {MinConns: -1}, {ConnectTimeout: -1}} {
		o.URL = "postgres://localhost/db"
		var invalid *timer.InvalidError
		if _, err := Open(t.Context(), o); !errors.As(err, &invalid) {
			t.Errorf("%+v: got %v, want an InvalidError", o, err)
		}
	}
}
