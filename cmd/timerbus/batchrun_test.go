package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// batchAPI answers batches of timers and schedules. It refuses those named bad, reports those named late as late, and answers a batch
// that contains one named stop with 500.
type batchAPI struct {
	mu      sync.Mutex
	took    map[string]map[string]any
	batches int
	arrival chan struct{} // has a token after a batch has arrived
}

func (b *batchAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request map[string][]map[string]any
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches++
	select {
	case b.arrival <- struct{}{}:
	default:
	}
	noun := strings.Split(r.URL.Path, "/")[3] // after /api/v1/
	results := make([]string, len(request[noun]))
	for i, timer := range request[noun] {
		id, _ := timer["id"].(string)
		if id == "" {
			id, _ = timer["timerId"].(string)
		}
		b.took[id] = timer
		switch id {
		case "stop":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":"INTERNAL_ERROR","message":"it broke"}`)
			return
		case "bad":
			results[i] = fmt.Sprintf(`{"status":400,"error":{"error":"INVALID_INPUT","message":"%[1]s[%[2]d].id: not this one","details":{"field":"%[1]s[%[2]d].id"}}}`,
				noun, i)
		case "late":
			results[i] = `{"status":202}`
		default:
			results[i] = `{"status":200}`
		}
	}
	_, _ = io.WriteString(w, `{"results":[`+strings.Join(results, ",")+`]}`)
}

// arrived returns the number of different timers that have arrived. A test must not read took without the lock after a
// batch failed: the client cancels the other batches in flight, and their handlers may still run.
func (b *batchAPI) arrived() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.took)
}

func batchService(t *testing.T) *batchAPI {
	t.Helper()
	hermetic(t)
	b := &batchAPI{took: map[string]map[string]any{}, arrival: make(chan struct{}, 1)}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	t.Setenv("TIMERBUS_URL", server.URL)
	return b
}

func TestBatchCreate(t *testing.T) {
	b := batchService(t)
	var in strings.Builder
	for i := 1; i <= 25; i++ {
		id := fmt.Sprint("t", i)
		switch i {
		case 7:
			id = "bad"
		case 8:
			id = "late"
		case 9:
			in.WriteString("{\"id\":\"x\"\n")
			continue
		case 10:
			in.WriteString(`{"id":"t10","executeIn":"1h","namespace":"other","onConflict":"fail"}` + "\n\n")
			continue
		}
		fmt.Fprintf(&in, "{\"id\":%q,\"executeIn\":\"1h\"}\n", id)
	}
	file := filepath.Join(t.TempDir(), "timers.jsonl")
	if err := os.WriteFile(file, []byte(in.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command(t, "timer", "batch-create", file, "-n", "billing", "--on-conflict", "keep", "--batch-size", "10")
	if got.code != exitFailure || !strings.Contains(got.stdout, "23 timers created (earlier deliveries of 1 may have gone out), 2 failed, in ") {
		t.Errorf("exit code %d: %s", got.code, got.stdout)
	}
	for _, want := range []string{
		"line 7: id: not this one (INVALID_INPUT)\n", "line 9: the JSON object does not end on its line (INVALID_INPUT)\n",
		"timerbus: 2 of 25 lines failed\n",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("error output %q does not say %q", got.stderr, want)
		}
	}
	if b.batches != 3 {
		t.Errorf("%d batches, want 3", b.batches)
	}
	if one := b.took["t1"]; one["namespace"] != "billing" || one["onConflict"] != "keep" {
		t.Errorf("sent %v", one)
	}
	if own := b.took["t10"]; own["namespace"] != "other" || own["onConflict"] != "fail" {
		t.Errorf("sent %v", own)
	}

	got = command(t, "timer", "batch-create", file, "--json")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if len(lines) != 3 || !strings.Contains(got.stdout, `{"line":7,"timerId":"bad","field":"id","error":"INVALID_INPUT","message":"id: not this one"}`) ||
		!strings.Contains(lines[2], `{"succeeded":23,"failed":2,"late":1,"lastLine":26,"seconds":`) {
		t.Errorf("as JSON:\n%s", got.stdout)
	}
}

func TestBatchDeleteReadsIDsAndObjects(t *testing.T) {
	b := batchService(t)
	got := commandWith(t, "order-17\n{\"timerId\":\"order-18\",\"namespace\":\"other\",\"ifGeneration\":\"7\"}\n", "timer", "batch-delete", "-n", "billing")
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "2 timers deleted, 0 failed") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if one, two := b.took["order-17"], b.took["order-18"]; one["namespace"] != "billing" || two["namespace"] != "other" || two["ifGeneration"] != "7" {
		t.Errorf("sent %v and %v", one, two)
	}
}

func TestBatchesOfSchedules(t *testing.T) {
	b := batchService(t)
	in := `{"id":"s1","specs":[{"cron":"0 8 * * *"}],"timer":{"payload":{"a":[1]}}}
{"id":"bad","specs":[{"every":"1h"}]}
{"id":"late","specs":[{"every":"1h"}],"namespace":"other","onConflict":"fail"}
{"id":"x","specs":[{"evry":"1h"}]}
s7
`
	got := commandWith(t, in, "schedule", "batch-create", "-n", "billing", "--on-conflict", "keep")
	if got.code != exitFailure || !strings.Contains(got.stdout, "2 schedules created (1 may have created an occurrence at this moment), 3 failed, in ") {
		t.Errorf("exit code %d: %s", got.code, got.stdout)
	}
	for _, want := range []string{
		"line 2: id: not this one (INVALID_INPUT)\n", `line 4: not accepted: json: unknown field "evry" (INVALID_INPUT)`,
		`line 5: "s7" is not accepted: want a JSON object, such as {"id":"poll","specs":[{"every":"15m"}]} (INVALID_INPUT)`,
		"timerbus: 3 of 5 lines failed\n",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("error output %q does not say %q", got.stderr, want)
		}
	}
	if one := b.took["s1"]; one["namespace"] != "billing" || one["onConflict"] != "keep" || fmt.Sprint(one["timer"]) != "map[payload:map[a:[1]]]" {
		t.Errorf("sent %v", one)
	}
	if own := b.took["late"]; own["namespace"] != "other" || own["onConflict"] != "fail" {
		t.Errorf("sent %v", own)
	}
	got = commandWith(t, in, "schedule", "batch-create", "--json")
	if !strings.Contains(got.stdout, `{"line":2,"scheduleId":"bad","field":"id","error":"INVALID_INPUT","message":"id: not this one"}`) {
		t.Errorf("as JSON:\n%s", got.stdout)
	}

	got = commandWith(t, "s1\n{\"id\":\"s2\",\"namespace\":\"other\",\"ifVersion\":7,\"pending\":\"delete\"}\n", "schedule", "batch-delete", "-n", "billing")
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "2 schedules deleted, 0 failed") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if one, two := b.took["s1"], b.took["s2"]; one["namespace"] != "billing" || two["namespace"] != "other" || two["ifVersion"] != 7.0 || two["pending"] != "delete" {
		t.Errorf("sent %v and %v", one, two)
	}
	for _, args := range []string{"batch-create a b", "batch-delete --batch-size 0", "batch-create /none/such"} {
		if got := command(t, append([]string{"schedule"}, strings.Fields(args)...)...); got.code != exitUsage {
			t.Errorf("schedule %s: exit code %d: %s", args, got.code, got.stderr)
		}
	}
}

// If the service fails, the command reports the line up to which all lines were answered, and a later call can send the
// rest.
func TestBatchesGoOnWhereTheyStopped(t *testing.T) {
	b := batchService(t)
	var in strings.Builder
	for i := 1; i <= 100; i++ {
		id := fmt.Sprint("t", i)
		if i == 25 {
			id = "stop"
		}
		fmt.Fprintf(&in, "{\"id\":%q,\"executeIn\":\"1h\"}\n", id)
	}
	got := commandWith(t, in.String(), "timer", "batch-create", "--batch-size", "10", "--in-flight", "1")
	// A batch that was ready when the other one failed may still be sent.
	if got.code != exitFailure || !regexp.MustCompile(`^[23]0 timers created, 0 failed`).MatchString(got.stdout) ||
		!strings.Contains(got.stderr, "it broke (INTERNAL_ERROR)\nevery line up to 20 was answered, later lines may have been; continue with --from-line 21\n") {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	rest := strings.Replace(in.String(), `"stop"`, `"t25"`, 1)
	if got = commandWith(t, rest, "timer", "batch-create", "--from-line", "21"); got.code != exitOK || !strings.HasPrefix(got.stdout, "80 timers created") {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if n := b.arrived(); n != 101 { // the additional one is "stop"
		t.Errorf("%d timers arrived", n)
	}
}

// LastLine does not include chunks that were answered after an unanswered one.
func TestTheLastLineIsThatOfAnUnbrokenPrefix(t *testing.T) {
	run := batchRun[string, client.BatchResult]{program: &program{stdout: io.Discard, stderr: io.Discard}, flags: batchFlags{from: 1}, verb: "created"}
	run.line = newProgress(io.Discard, time.Now())
	answers := make(chan answered[string, client.BatchResult], 5)
	for _, sequence := range []int{2, 0, 4, 3} { // sequence 1 failed
		answers <- answered[string, client.BatchResult]{chunk: chunk[string]{sequence: sequence, last: (sequence + 1) * 10}}
	}
	answers <- answered[string, client.BatchResult]{chunk: chunk[string]{sequence: 1, last: 20}, err: io.ErrUnexpectedEOF}
	close(answers)
	report, err := run.collect(answers, func(error) {})
	if err == nil || report.LastLine != 10 {
		t.Errorf("%+v, %v, want line 10", report, err)
	}
}

// Ctrl-C ends the command although the input has not ended.
func TestAnInterruptionTellsWhereToGoOn(t *testing.T) {
	b := batchService(t)
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout, stderr := newScreen(), newScreen()
	ended := make(chan int)
	go func() { ended <- run(ctx, []string{"timer", "batch-create", "--batch-size", "2"}, in, stdout, stderr) }()
	if _, err := io.WriteString(out, `{"id":"t1","executeIn":"1h"}`+"\n"+`{"id":"t2","executeIn":"1h"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-b.arrival
	cancel()
	if code := <-ended; code != exitFailure || !strings.Contains(stderr.String(), "continue with --from-line ") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
