package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/internal/store/roletest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// script returns a file of deploy/postgresql.
func script(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/postgresql/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// startRoles prepares a database as deploy/postgresql describes, and returns the URLs of the roles' users and of the owner.
func startRoles(t *testing.T, address string) (inside string, of func(role string) string) {
	t.Helper()
	inside = newDatabase(t, address)
	execute(t, inside, script(t, "roles.sql"), script(t, "roles.sql"))
	prefix := fmt.Sprintf("user_%d_", rand.Uint64())
	of = func(role string) string {
		return with(t, inside, func(u *url.URL) {
			u.User = url.User(prefix + role)
			if role == "owner" {
				u.RawQuery += "&role=timerbus_owner"
			}
		})
	}
	for _, role := range append(slices.Collect(maps.Keys(rights)), "owner") {
		execute(t, inside, "CREATE ROLE "+prefix+role+" LOGIN IN ROLE timerbus_"+role)
		t.Cleanup(func() { execute(t, address, "DROP ROLE "+prefix+role) })
	}
	if _, _, err := Migrate(t.Context(), Options{URL: of("owner")}); err != nil {
		t.Fatal(err)
	}
	execute(t, of("owner"), script(t, "rights.sql"), script(t, "rights.sql"))
	return inside, of
}

// granted returns the rights of a role on tables and on columns, as the catalog has them: "TABLE PRIVILEGE".
func granted(t *testing.T, inside, role string) (found []string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), inside)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	rows, err := c.Query(t.Context(), `SELECT DISTINCT table_name || ' ' || privilege_type FROM information_schema.column_privileges
WHERE grantee = 'timerbus_' || $1 UNION SELECT table_name || ' ' || privilege_type FROM information_schema.table_privileges
WHERE grantee = 'timerbus_' || $1`, role)
	if err != nil {
		t.Fatal(err)
	}
	found, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

// TestRightsOfRoles: deploy/postgresql/rights.sql grants each role what the engine requires of it, and nothing else. Open names
// each right that is missing.
func TestRightsOfRoles(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		t.Parallel()
		inside, of := startRoles(t, address)
		for role := range rights {
			privileges, tables := needed(role)
			var want []string
			for i := range tables {
				want = append(want, tables[i]+" "+privileges[i])
			}
			slices.Sort(want)
			if got := granted(t, inside, role); !slices.Equal(got, want) {
				t.Errorf("%s has\n%s\nwant\n%s", role, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			open := func() error {
				s, err := Open(t.Context(), Options{URL: of(role), Role: role, MaxConns: 2})
				if err != nil {
					return err
				}
				return s.Close()
			}
			if err := open(); err != nil {
				t.Errorf("%s: %v", role, err)
			}
			for i, table := range tables {
				if !strings.HasSuffix(t.Name(), "/postgres") {
					break // one server is sufficient to show that each right is checked
				}
				execute(t, of("owner"), "REVOKE "+privileges[i]+" ON "+table+" FROM timerbus_"+role)
				err := open()
				// The version of the schema is read before the rights are checked.
				early := table == migrationsTable || table == "schema_support"
				if err == nil || !strings.Contains(err.Error(), table) || !early && !strings.Contains(err.Error(), table+" ("+privileges[i]+")") {
					t.Errorf("%s without %s on %s: %v", role, privileges[i], table, err)
				}
				execute(t, of("owner"), script(t, "rights.sql"))
			}
			for other := range rights {
				if other == role {
					continue
				}
				if s, err := Open(t.Context(), Options{URL: of(role), Role: other}); err == nil {
					_ = s.Close()
					t.Errorf("the user of %s may be %s", role, other)
				}
			}
		}
		if _, err := Open(t.Context(), Options{URL: inside, Role: "me"}); err == nil || !strings.Contains(err.Error(), "want dispatcher, ingest, scheduler") {
			t.Errorf("an unknown role: %v", err)
		}
	})
}

// TestADispatcherDeletesDays: a user who may not drop the partitions that another user created deletes their expired rows.
func TestADispatcherDeletesDays(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		t.Parallel()
		_, of := startRoles(t, address)
		owner := openStore(t, of("owner")) // creates partitions of the next days
		clock, err := owner.Time(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const timers = 25
		var ops []store.Op
		var items []store.Finish
		for i := range timers {
			p := putOf(fmt.Sprint(i), clock.At)
			f := finishOf(p, store.FinishDone)
			f.Record.FinishedAt, f.Record.KeepFor = clock.At, time.Hour
			ops, items = append(ops, p), append(items, f)
		}
		if _, err := owner.Write(t.Context(), clock.At, ops); err != nil {
			t.Fatal(err)
		}
		if refused, err := owner.Finish(t.Context(), clock.At, items); err != nil || slices.ContainsFunc(refused, func(e error) bool { return e != nil }) {
			t.Fatal(refused, err)
		}
		s, err := Open(t.Context(), Options{URL: of("dispatcher"), Role: "dispatcher"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		purge := func(now timer.Millis, want int) {
			t.Helper()
			if n, err := s.Purge(t.Context(), now, 10); err != nil || n != want {
				t.Errorf("deleted %d, %v, want %d", n, err, want)
			}
		}
		purge(clock.At, 0)
		later := clock.At.Add(48 * time.Hour)
		for _, want := range []int{10, 10, 5, 0} {
			purge(later, want)
		}
		purge(later.Add(2*daysEvery), 0)
	})
}

// TestRolesNeedTheirRights: with the rights of deploy/postgresql each role makes all its calls, and without any one of these rights
// the server refuses one of them.
func TestRolesNeedTheirRights(t *testing.T) {
	t.Parallel()
	_, of := startRoles(t, testserver.Address(t, "postgres"))
	owner := openStore(t, of("owner"))
	now, err := owner.Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range roletest.Roles() {
		s, err := Open(t.Context(), Options{URL: of(role), Role: role, MaxConns: 2, MinConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		calls := &roletest.Calls{Owner: owner, Store: s, Clock: now.At}
		run := func() error {
			s.full.Store(true)            // Ping looks for space
			s.housekeeping.end(now.At, 0) // Purge deletes days
			_, err := s.schema(t.Context())
			return errors.Join(err, calls.Run(t.Context(), role))
		}
		if err := run(); err != nil {
			t.Errorf("%s: %v", role, err)
			continue
		}
		privileges, tables := needed(role)
		for i, table := range tables {
			execute(t, of("owner"), "REVOKE "+privileges[i]+" ON "+table+" FROM timerbus_"+role)
			if err := run(); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("%s does not need %s on %s: %v", role, privileges[i], table, err)
			}
			execute(t, of("owner"), script(t, "rights.sql"))
		}
	}
}
