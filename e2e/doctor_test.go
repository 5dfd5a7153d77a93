package e2e_test

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
)

// examined is one result of `timerbus doctor`.
type examined struct{ Check, Status, Found, Advice string }

// doctor runs `timerbus doctor`, and returns the results that are neither ok nor skipped by their checks.
func doctor(t *testing.T, args ...string) (exit int, problems map[string]examined) {
	t.Helper()
	c := exec.CommandContext(within(t, patience), binary, append([]string{"doctor", "--json"}, args...)...)
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TIMERBUS_") })
	out, err := c.Output()
	var answer struct{ Results []examined }
	if c.ProcessState == nil || json.Unmarshal(out, &answer) != nil || len(answer.Results) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	problems = map[string]examined{}
	for _, r := range answer.Results {
		if r.Status != "ok" && r.Status != "skipped" {
			problems[r.Check] = r
		}
	}
	return c.ProcessState.ExitCode(), problems
}

// TestDoctorOnACluster examines a cluster while it works, without its scheduler, and with users and servers that are wrong.
func TestDoctorOnACluster(t *testing.T) {
	onEachBus(t, lone, func(t *testing.T, name string) {
		c := startClusterOn(t, needBus(t, name), 1, 1, 1)
		c.heldBy(t, time.Now(), "scheduler-1")
		if exit, problems := doctor(t, "--store", c.store, "--bus", c.bus.url); exit != 0 || len(problems) != 0 {
			t.Errorf("of a cluster that works: exit code %d, %+v", exit, problems)
		}
		if code, err := c.member("scheduler-1").Stop(within(t, patience)); err != nil || code != 0 {
			t.Fatalf("the scheduler stopped with %d, %v", code, err)
		}
		c.create(t, "late", 0)
		pause(t.Context(), time.Second)
		exit, problems := doctor(t, "--store", c.store, "--bus", c.bus.url, "--overdue", "500ms")
		if exit != 1 || len(problems) != 2 || !strings.Contains(problems["shards"].Found, "of 16 have no owner") || // all, unless a lease was lost on a slow machine
			!strings.Contains(problems["overdue"].Found, "the oldest timer is overdue") {
			t.Errorf("without a scheduler: exit code %d, %+v", exit, problems)
		}
		other := strings.Split(c.bus.url, "?")[0] + "?prefix=other"
		exit, problems = doctor(t, "--store", c.store, "--bus", other, "--partitions", "8", "--overdue", "1h")
		if exit != 1 || !strings.Contains(problems["bus topics"].Found, "missing: other") ||
			!strings.Contains(problems["partitions"].Found, "the cluster has 16, the setting is 8") {
			t.Errorf("with another prefix and number of partitions: exit code %d, %+v", exit, problems)
		}
	})
}

// TestDoctorOnPostgreSQL examines databases that a process could not use.
func TestDoctorOnPostgreSQL(t *testing.T) {
	if chosen().server != "postgres" {
		t.Skip("about the rights of PostgreSQL")
	}
	c := startCluster(t, 1, 1, 1)
	u, err := url.Parse(c.store)
	if err != nil {
		t.Fatal(err)
	}
	server := testserver.Address(t, "postgres")
	reader := strings.TrimPrefix(u.Path, "/") + "_reader"
	if err := onServer(c.store, "CREATE ROLE "+reader+" LOGIN; GRANT USAGE ON SCHEMA public TO "+reader+
		"; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+reader); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = onServer(c.store, "DROP OWNED BY "+reader)
		_ = onServer(server, "DROP ROLE "+reader)
	})
	limited := *u
	limited.User = url.User(reader)
	empty := chosen().fresh(t)
	away := *u
	away.Host = "127.0.0.1:1"
	for name, given := range map[string]struct{ store, check, found, advice string }{
		"a user who may only read": {limited.String(), "store", "may not read and write", "--store"},
		"no schema":                {empty, "schema", "there is no schema yet", "timerbus migrate up"},
		"no server":                {away.String(), "store", "does not answer", "database runs"},
	} {
		exit, problems := doctor(t, "--store", given.store, "--bus", c.bus.url)
		got := problems[given.check]
		if exit != 1 || got.Status != "failed" || !strings.Contains(got.Found, given.found) || !strings.Contains(got.Advice, given.advice) {
			t.Errorf("%s: exit code %d, %+v", name, exit, problems)
		}
	}
}
