package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

// said is the output of a command, by stream.
type said struct {
	code           int
	stdout, stderr string
}

// feed runs the binary with input.
func (w *world) feed(t *testing.T, input string, args ...string) said {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(within(t, patience), binary, args...)
	command.Env = append(command.Environ(), "TIMERBUS_URL="+w.URL())
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &stdout, &stderr
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return said{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (s *said) expect(t *testing.T, code int, stdout string, stderr ...string) {
	t.Helper()
	ok := s.code == code && strings.Contains(s.stdout, stdout)
	for _, part := range stderr {
		ok = ok && strings.Contains(s.stderr, part)
	}
	if !ok {
		t.Errorf("exit code %d, want %d with %q and %q\n%s%s", s.code, code, stdout, stderr, s.stdout, s.stderr)
	}
}

// pending counts a namespace's live timers.
func (w *world) pending(t *testing.T, r client.ListTimersRequest) (n int) {
	t.Helper()
	r.Namespace, r.Limit = w.namespace, 1000
	for _, err := range w.api.AllTimers(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestManyTimersByTheCommandLine creates 3,000 timers from a file, changes some by filter, and deletes all of them. On
// a slow database it uses 300, because requests would exceed their timeout on a busy machine.
func TestManyTimersByTheCommandLine(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	ns := w.namespace
	third, batch := 1000, "250"
	if onDatabase() && chosen().slow {
		third, batch = 100, "25"
	}
	count := func(n int) string {
		if n < 1000 {
			return strconv.Itoa(n)
		}
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	var lines, ids strings.Builder
	for i := 1; i <= 3*third; i++ {
		fmt.Fprintf(&lines, `{"id":"t%d","executeIn":"1h","correlationId":"c%d","payload":{"n":%d}}`+"\n", i, i%3, i)
		fmt.Fprintf(&ids, "t%d\n", i)
	}
	file := filepath.Join(t.TempDir(), "timers.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := w.feed(t, "", "timer", "batch-create", file, "-n", ns, "--batch-size", batch)
	got.expect(t, 0, count(3*third)+" timers created, 0 failed")
	if n := w.pending(t, client.ListTimersRequest{}); n != 3*third {
		t.Errorf("%d timers exist", n)
	}
	// A second run has no effect; existing timers are kept.
	got = w.feed(t, lines.String(), "timer", "batch-create", "-n", ns, "--on-conflict", "keep", "--from-line", strconv.Itoa(2*third+1))
	got.expect(t, 0, count(third)+" timers created, 0 failed")
	// Invalid lines are reported, the others are applied.
	got = w.feed(t, `{"id":"good","executeIn":"1h"}
{"id":"bad","executeIn":"soon"}
{"id":"worse","executeIn":"1h","callback":"x"}
{"id":"t1","executeIn":"1h","onConflict":"fail"}
`, "timer", "batch-create", "-n", ns, "--json")
	got.expect(t, 1, `{"line":2,"timerId":"bad","field":"executeIn","error":"INVALID_INPUT"`)
	got.expect(t, 1, `{"line":3,"error":"INVALID_INPUT","message":"not accepted: json: unknown field \"callback\""}`)
	got.expect(t, 1, `{"line":4,"timerId":"t1","error":"TIMER_EXISTS"`)
	got.expect(t, 1, `{"succeeded":1,"failed":3,"late":0,"lastLine":4`, "3 of 4 lines failed")

	byFilter := func(args ...string) []string {
		return append([]string{"timer", args[0], "-n", ns, "--correlation-id", "c1"}, args[1:]...)
	}
	got = w.feed(t, "", byFilter("reschedule", "--shift-by", "24h", "--dry-run")...)
	got.expect(t, 0, count(third)+" timers in namespace "+ns+", with correlation id c1 would be rescheduled")
	got = w.feed(t, "", byFilter("reschedule", "--shift-by", "24h")...)
	got.expect(t, 2, "", "--yes")
	got = w.feed(t, "", byFilter("reschedule", "--shift-by", "24h", "--yes", "--page-size", strconv.Itoa(third*3/10))...)
	got.expect(t, 0, count(third)+" timers rescheduled\n")
	if one, other := w.get(t, "t1"), w.get(t, "t2"); one.ExecuteAt.Sub(other.ExecuteAt.Time).Hours() < 23 ||
		one.ExecuteAt.Sub(other.ExecuteAt.Time).Hours() > 25 {
		t.Errorf("shifted from about %s to %s", other.ExecuteAt, one.ExecuteAt)
	}
	got = w.feed(t, "", byFilter("delete", "--matching", "--yes", "--page-size", strconv.Itoa(third*3/10))...)
	got.expect(t, 0, count(third)+" timers deleted\n")
	got = w.feed(t, ids.String(), "timer", "batch-delete", "-n", ns)
	got.expect(t, 1, count(2*third)+" timers deleted, "+count(third)+" failed", "line 1: ", "(TIMER_NOT_FOUND)")
	if n := w.pending(t, client.ListTimersRequest{}); n != 1 {
		t.Errorf("%d timers are left, want the good one", n)
	}
}

// get reads a timer.
func (w *world) get(t *testing.T, id string) client.Timer {
	t.Helper()
	got, err := w.api.GetTimer(t.Context(), w.selection(id))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestBatchCreateOverAKill: the service is killed in the middle of the input. The command prints the last line up to
// which all were answered, and a run from there completes the input.
func TestBatchCreateOverAKill(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var stderr bytes.Buffer
	command := exec.CommandContext(within(t, patience), binary, "timer", "batch-create", "--batch-size", "100", "--json")
	command.Env = append(command.Environ(), "TIMERBUS_URL="+w.URL())
	command.Stdin, command.Stderr = in, &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := 1; i <= 1000; i++ {
		lines = append(lines, fmt.Sprintf(`{"id":"t%d","executeIn":"1h","onConflict":"keep"}`, i))
	}
	write := func(lines []string) {
		if _, err := fmt.Fprintln(out, strings.Join(lines, "\n")); err != nil {
			t.Error(err)
		}
	}
	write(lines[:500])
	for made := within(t, patience); w.pending(t, client.ListTimersRequest{}) < 500; pause(made, 20*time.Millisecond) {
		if made.Err() != nil {
			t.Fatal("the first five batches are not there")
		}
	}
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	write(lines[500:])
	out.Close()
	var report struct{ Succeeded, Failed, LastLine int }
	if err := json.NewDecoder(stdout).Decode(&report); err != nil {
		t.Fatal(err)
	}
	err = command.Wait()
	// The kill may have cut off the answer to the fifth batch, although its timers exist.
	if command.ProcessState.ExitCode() != 6 || report.LastLine != 400 && report.LastLine != 500 ||
		report.Succeeded != report.LastLine || report.Failed != 0 ||
		!strings.Contains(stderr.String(), fmt.Sprintf("with --from-line %d", report.LastLine+1)) {
		t.Fatalf("%v, %+v\n%s", err, report, &stderr)
	}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	got := w.feed(t, strings.Join(lines, "\n"), "timer", "batch-create", "--from-line", fmt.Sprint(report.LastLine+1))
	got.expect(t, 0, fmt.Sprintf("%d timers created", 1000-report.LastLine))
	if n := w.pending(t, client.ListTimersRequest{}); n != 1000 {
		t.Errorf("%d timers exist", n)
	}
}

// TestRetryByTheCommandLine makes timers dead by their receiver's answer and retries them.
func TestRetryByTheCommandLine(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	ns := w.namespace
	kill := func(id string) {
		w.receiver.On(ns, id, receiver.Answer{Status: http.StatusGone})
		w.create(t, id, 0)
		w.reaches(t, id, isStatus("dead"))
	}
	kill("b")
	kill("c")
	got := w.feed(t, "", "timer", "retry", "-n", ns, "--matching", "--status", "dead", "--dry-run", "--json")
	got.expect(t, 0, `"matched": 2`)
	got = w.feed(t, "", "timer", "retry", "-n", ns, "--matching", "--status", "dead", "--yes")
	got.expect(t, 0, "2 timers armed again\n")
	for _, id := range []string{"b", "c"} {
		w.calls(t, id, 2)
	}

	kill("a")
	w.cli(t, 3, "timer", "retry", "unknown", "-n", ns)
	if armed := cliJSON[client.Timer](t, w, "timer", "retry", "a", "-n", ns, "--in", "1h"); armed.Status != "scheduled" || armed.Attempts != 0 {
		t.Errorf("armed %+v", armed)
	}
	got = w.feed(t, "", "timer", "retry", "a", "-n", ns)
	got.expect(t, 4, "", "(TIMER_EXISTS)")
}

// TestWatchByTheCommandLine follows results as they are published, and reads earlier ones.
func TestWatchByTheCommandLine(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.receiver.On(w.namespace, "gone", receiver.Answer{Status: http.StatusGone})
	w.create(t, "gone", 0)
	w.create(t, "fine", 0)
	w.reaches(t, "gone", isStatus("dead"))
	w.reaches(t, "fine", isStatus("done"))

	watch := func(args ...string) said {
		return w.feed(t, "", append([]string{"timer", "watch", "-n", w.namespace, "--nats", w.NATSURL(), "--since", "1h"}, args...)...)
	}
	got := watch("--count", "2")
	got.expect(t, 0, "gone                 attempt 1  dead", "following results at")
	got.expect(t, 0, "fine                 attempt 1  done")
	got = watch("--count", "1", "--outcome", "dead", "--json")
	var event struct {
		TimerID, Outcome string
		StatusCode       int
	}
	if err := json.Unmarshal([]byte(got.stdout), &event); err != nil || event.TimerID != "gone" || event.StatusCode != http.StatusGone {
		t.Errorf("%v in %s%s", err, got.stdout, got.stderr)
	}
	// The next result does not exist yet: the timer fires while the command watches.
	w.create(t, "next", 300*time.Millisecond)
	got = watch("next", "--count", "1")
	got.expect(t, 0, "next                 attempt 1  done")
	got = watch("--nats", "nats://127.0.0.1:1")
	got.expect(t, 6, "", "connect to NATS at nats://127.0.0.1:1")
}

func TestShardsByTheCommandLine(t *testing.T) {
	t.Parallel()
	w := onShared(t) // four shards
	w.create(t, "late", 0)
	w.reaches(t, "late", isStatus("done"))
	list := cliJSON[struct{ Shards []client.Shard }](t, w, "shard", "list", "-n", w.namespace)
	held := 0
	for _, s := range list.Shards {
		if s.Held && s.Node != "" && s.Version > 0 && !s.ClaimedAt.IsZero() {
			held++
		}
	}
	if len(list.Shards) != 4 || held == 0 {
		t.Errorf("shards %+v", list.Shards)
	}
	if shown := w.cli(t, 0, "shard", "list", "-n", w.namespace); strings.Count(shown, "\n") != 5 || !strings.HasPrefix(shown, "SHARD  PARTITION  NODE") {
		t.Errorf("shard list prints\n%s", shown)
	}
	if shown := w.cli(t, 0, "shard", "list", "-n", w.namespace, "--overdue", "1h"); strings.Count(shown, "\n") != 1 {
		t.Errorf("shard list --overdue 1h prints\n%s", shown)
	}
	w.cli(t, 3, "shard", "list", "-n", "no-such-namespace")
}

// TestCompletionScripts runs the completion scripts in their shells.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.create(t, "order-17", time.Hour)
	if offered := w.cli(t, 0, "__complete", "timer", "get", "-n", w.namespace, ""); !strings.HasPrefix(offered, "order-17\n") {
		t.Errorf("offered %q", offered)
	}
	if offered := w.cli(t, 0, "__complete", "shard", "list", "-n", ""); !strings.Contains(offered, w.namespace+"\n") {
		t.Errorf("offered %q", offered)
	}
	script := w.cli(t, 0, "completion", "bash")
	check := exec.CommandContext(within(t, patience), "bash", "-n")
	check.Stdin = strings.NewReader(script)
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("bash does not read its script: %v\n%s", err, output)
	}
}

// TestI22_ManySchedulesByTheCommandLine creates 250 schedules from a file with 3 bad lines, selects some by their next instant, and
// deletes all in a batch.
func TestI22_ManySchedulesByTheCommandLine(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	ns := w.namespace
	first := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	const all = 250
	var lines, ids strings.Builder
	for i := range all {
		id, at := fmt.Sprint("s", i), first.AddDate(0, 0, i).Format(time.RFC3339)
		switch i {
		case 10:
			fmt.Fprintf(&lines, `{"id":%q,"specs":[{"cron":"61 * * * *"}]}`+"\n", id)
		case 100:
			fmt.Fprintf(&lines, `{"id":%q,"specs":[{"every":"1h"}],"zone":"UTC"}`+"\n", id)
		case 200:
			fmt.Fprintf(&lines, `{"id":%q,"specs":[{"every":"1h"}],"timer":{"callbackUrl":"ftp://x"}}`+"\n", id)
		default:
			fmt.Fprintf(&lines, `{"id":%q,"specs":[{"every":"24h","anchor":%q}],"start":%q,"timer":{"payload":{"n":%d}}}`+"\n", id, at, at, i)
			fmt.Fprintln(&ids, id)
		}
	}
	file := filepath.Join(t.TempDir(), "schedules.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := w.feed(t, "", "schedule", "batch-create", file, "-n", ns, "--batch-size", "100")
	got.expect(t, 1, "247 schedules created, 3 failed",
		`line 11: specs[0].cron: "61 * * * *" is not accepted`, `line 101: not accepted: json: unknown field "zone"`,
		`line 201: timer.callbackUrl: "ftp://x" is not accepted`, "3 of 250 lines failed")
	got = w.feed(t, lines.String(), "schedule", "batch-create", "-n", ns, "--on-conflict", "fail", "--from-line", "250", "--json")
	got.expect(t, 1, `{"line":250,"scheduleId":"s249","error":"SCHEDULE_EXISTS"`)

	week := client.ListSchedulesRequest{
		Namespace: ns, NextFrom: client.At(first.AddDate(0, 0, 7)), NextBefore: client.At(first.AddDate(0, 0, 14)), Limit: 10,
	}
	if found := w.schedules(t, week); !slices.Equal(found, []string{"s11", "s12", "s13", "s7", "s8", "s9"}) { // s10 is a bad line
		t.Errorf("schedules of a week: %q", found)
	}
	byFilter := func(verb string, args ...string) []string {
		return append([]string{
			"schedule", verb, "-n", ns, "--matching", "--next-from", week.NextFrom.String(), "--next-before", week.NextBefore.String(),
		}, args...)
	}
	got = w.feed(t, "", byFilter("pause", "--yes", "--page-size", "50")...)
	got.expect(t, 0, "6 schedules paused\n")
	paused := client.ListSchedulesRequest{Namespace: ns, Status: "paused", NextFrom: week.NextFrom}
	if found := w.schedules(t, paused); len(found) != 6 {
		t.Errorf("paused: %q", found)
	}
	got = w.feed(t, "", byFilter("delete", "--dry-run")...)
	got.expect(t, 0, "6 schedules in namespace "+ns+", with the next occurrence from ")
	got = w.feed(t, "", byFilter("resume", "--yes")...)
	got.expect(t, 0, "6 schedules resumed\n")

	ids.WriteString("none\n{\"id\":\"s1\",\"ifVersion\":1}\n") // s1 is deleted before, if the lines are in one batch
	got = w.feed(t, ids.String(), "schedule", "batch-delete", "-n", ns, "--batch-size", "1000")
	got.expect(t, 1, "247 schedules deleted, 2 failed", "line 248: there is no schedule \"none\"", "line 249: there is no schedule \"s1\"")
	if found := w.schedules(t, client.ListSchedulesRequest{Namespace: ns}); len(found) != 0 {
		t.Errorf("schedules that are left: %q", found)
	}
}

// schedules returns the sorted ids of the schedules of all pages.
func (w *world) schedules(t *testing.T, r client.ListSchedulesRequest) (ids []string) {
	t.Helper()
	for s, err := range w.api.AllSchedules(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}
