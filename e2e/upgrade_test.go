package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
)

// upgradeLateness is the largest p99 lateness of an upgrade.
const upgradeLateness = time.Second

// previousRelease builds the binary of a commit from the history of this repository, with the modules of that commit.
func previousRelease(t *testing.T, commit string) string {
	t.Helper()
	source, built := t.TempDir(), t.TempDir()
	archive := filepath.Join(built, "source.tar")
	if os.Getenv("TIMERBUS_UPGRADE_FROM") == "" {
		if out, err := exec.CommandContext(t.Context(), "git", "-C", "..", "cat-file", "-e", commit+"^{commit}").CombinedOutput(); err != nil {
			t.Skipf("the history of this clone does not contain the previous release, commit %s: %v\n%s\nFetch the whole history, or run `make e2e-upgrade` in a complete clone.",
				commit, err, out)
		}
	}
	for _, args := range [][]string{
		{"git", "-C", "..", "archive", "--output", archive, commit},
		{"tar", "-x", "-f", archive, "-C", source},
	} {
		if out, err := exec.CommandContext(within(t, patience), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s\nThe history of the repository must contain commit %s.", strings.Join(args, " "), err, out, commit)
		}
	}
	path, err := harness.Build(within(t, 10*time.Minute), source, built, false)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// phases records the lateness of first attempts by the phase in which they arrived.
type phases struct {
	mu    sync.Mutex
	names []string
	late  [][]time.Duration
}

func (p *phases) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names, p.late = append(p.names, name), append(p.late, nil)
}

func (p *phases) call(c *receiver.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := len(p.late) - 1
	p.late[now] = append(p.late[now], max(0, c.Lateness()))
}

// lateness sorts late, and returns its largest value and its 99th percentile.
func lateness(late []time.Duration) (p99, most time.Duration) {
	if len(late) == 0 {
		return 0, 0
	}
	slices.Sort(late)
	return late[(len(late)-1)*99/100], late[len(late)-1]
}

func (p *phases) table() (text string, p99 time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	row := func(name string, late []time.Duration) time.Duration {
		p99, most := lateness(late)
		fmt.Fprintf(&b, "%-36s %7d %8d %8d\n", name, len(late), p99.Milliseconds(), most.Milliseconds())
		return p99
	}
	fmt.Fprintf(&b, "%-36s %7s %8s %8s\n", "phase", "timers", "p99 ms", "max ms")
	for i, name := range p.names {
		row(name, p.late[i])
	}
	p99 = row("all", slices.Concat(p.late...))
	return b.String(), p99
}

// previousCommit returns the commit of the previous release. long is set in `make e2e-upgrade`, which observes every phase for
// 5 s and checks the lateness.
func previousCommit(t *testing.T) (commit string, long bool) {
	t.Helper()
	if commit = os.Getenv("TIMERBUS_UPGRADE_FROM"); commit != "" {
		return commit, true
	}
	text, err := os.ReadFile("upgrade/previous")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), false
}

// TestRollingUpgrade upgrades a cluster of the previous release under load. The schema is migrated first, and then expanded as
// a later release would do it, so that both releases also work with a schema that is newer than they know. Then each process is
// replaced, in the order of docs/operations.md, and two are rolled back.
func TestRollingUpgrade(t *testing.T) {
	commit, long := previousCommit(t)
	observed := time.Second
	if long {
		observed = 5 * time.Second
	}
	if chosen().server != "postgres" {
		t.Fatalf("TIMERBUS_E2E_STORE=%s: want postgres", chosen().server)
	}
	previous := previousRelease(t, commit)
	c := &cluster{store: chosen().fresh(t), bus: needBus(t, "nats"), options: []harness.Option{harness.WithBinary(previous)}}
	c.migrate(t, previous)
	c.start(t, 2, 2, 2)
	c.heldBy(t, time.Now(), "scheduler-1", "scheduler-2")

	l := newLoad(t, c.world, c.member("ingest-2"))
	var p phases
	l.first = p.call
	phase := func(name string, work func()) {
		p.begin(name)
		if work != nil {
			work()
		}
		pause(t.Context(), observed)
	}
	p.begin("previous release, first seconds")
	stop := l.start(t.Context(), 6)
	pause(t.Context(), 3*time.Second)
	phase("previous release", nil)
	before := c.schema(t, previous)
	phase("migrate up", func() { c.migrate(t, binary) })
	t.Logf("schema: %s; after `migrate up` of this release: %s", before, c.schema(t, binary))
	phase("schema expanded", func() { c.expand(t) })

	var names []string
	for _, role := range []string{"dispatcher", "scheduler", "ingest"} {
		names = append(names, role+"-1", role+"-2")
	}
	for _, name := range names {
		phase("upgrade "+name, func() { c.replace(t, name, binary) })
	}
	phase("this release", nil)
	back := []string{"ingest-2", "dispatcher-1"}
	if !long {
		back = back[:1]
	}
	for _, name := range back {
		phase("roll back "+name, func() { c.replace(t, name, previous) })
		phase("upgrade "+name+" again", func() { c.replace(t, name, binary) })
	}
	stop()
	l.settle(within(t, 3*time.Minute), t, c.bus.events(t), time.Now(), clusterGrace)

	report := l.Report(time.Now().Add(-clusterGrace))
	table, p99 := p.table()
	t.Logf("from %.12s to the present tree\n%s%s", commit, table, report.String())
	if report.Bad() > 0 || report.Fired == 0 {
		t.Error("a guarantee is violated, or the test proves nothing")
	}
	if long && p99 > upgradeLateness {
		t.Errorf("p99 of the lateness is %v, want at most %v", p99, upgradeLateness)
	}
	c.contract(t, previous)
}

// replace stops a process in an orderly way and starts another binary in its place.
func (c *cluster) replace(t *testing.T, name, binary string) {
	t.Helper()
	m := c.member(name)
	if code, err := m.Stop(within(t, patience)); err != nil || code != 0 {
		t.Fatalf("%s stopped with %d, %v\n%s", name, code, err, m.Log())
	}
	m.SetBinary(binary)
	if err := m.Start(within(t, patience)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// schema returns what a binary reports about the schema.
func (c *cluster) schema(t *testing.T, binary string) string {
	t.Helper()
	out, err := exec.CommandContext(within(t, patience), binary, "migrate", "status", "--store", c.store).CombinedOutput()
	if err != nil {
		t.Fatalf("migrate status: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// laterSchema is a schema version that neither release knows.
const laterSchema = 999

// expand changes the schema as the first half of a migration of a later release: it adds columns and a table, and
// supports the same programs as the present schema.
func (c *cluster) expand(t *testing.T) {
	t.Helper()
	if err := onServer(c.store, fmt.Sprintf(`SET lock_timeout = '3s';
		ALTER TABLE timers ADD COLUMN of_a_later_release text;
		ALTER TABLE timer_history ADD COLUMN of_a_later_release bigint NOT NULL DEFAULT 0;
		ALTER TABLE namespaces ADD COLUMN of_a_later_release boolean NOT NULL DEFAULT false;
		CREATE TABLE of_a_later_release (id bigint PRIMARY KEY);
		INSERT INTO schema_support (version, oldest_schema, oldest_program)
			SELECT %[1]d, oldest_schema, 'the present' FROM schema_support ORDER BY version DESC LIMIT 1;
		INSERT INTO timerbus_migrations (version_id, is_applied) VALUES (%[1]d, true)`, laterSchema)); err != nil {
		t.Fatal(err)
	}
}

// contract ends the support of the present schema, as the second half of a migration does. No program that does not know the
// new schema may start.
func (c *cluster) contract(t *testing.T, previous string) {
	t.Helper()
	if err := onServer(c.store, fmt.Sprintf("UPDATE schema_support SET oldest_schema = %[1]d WHERE version = %[1]d", laterSchema)); err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{"the previous release": previous, "this release": binary} {
		out, err := exec.CommandContext(within(t, patience), program, "migrate", "status", "--store", c.store).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "use timerbus the present or newer") {
			t.Errorf("%s on a schema that it does not support: %v\n%s", name, err, out)
		}
	}
}
