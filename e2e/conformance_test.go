package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/sdk/conformance"
)

// conformanceStep is a step of a script; sdk/conformance/README.md describes the fields.
type conformanceStep struct {
	Name    string          `json:"name"`
	Call    string          `json:"call"`
	Request json.RawMessage `json:"request"`
	Client  struct {
		Tries   int    `json:"tries"`
		Longest string `json:"longest"`
		Timeout string `json:"timeout"`
	} `json:"client"`
	Faults  json.RawMessage `json:"faults"`
	Expect  any             `json:"expect"`
	Error   map[string]any  `json:"error"`
	Tries   int             `json:"tries"`
	AtLeast string          `json:"atLeast"`
	Save    map[string]string
	Until   bool `json:"until"`
}

// sdkCall makes a call of the client. It returns the answer as it is, and the total of a walk.
type sdkCall func(ctx context.Context, c *client.Client, request []byte) (answer, progress any, err error)

func plain[R, A any](call func(*client.Client, context.Context, R) (A, error)) sdkCall {
	return func(ctx context.Context, c *client.Client, request []byte) (any, any, error) {
		var r R
		if err := decodeRequest(request, &r); err != nil {
			return nil, nil, err
		}
		answer, err := call(c, ctx, r)
		return answer, nil, err
	}
}

func walk[R, T any](call func(*client.Client, context.Context, R, func(T)) (T, error)) sdkCall {
	return func(ctx context.Context, c *client.Client, request []byte) (any, any, error) {
		var r R
		if err := decodeRequest(request, &r); err != nil {
			return nil, nil, err
		}
		total, err := call(c, ctx, r, nil)
		return total, total, err
	}
}

func all[R, T any](call func(*client.Client, context.Context, R) iter.Seq2[T, error]) sdkCall {
	return func(ctx context.Context, c *client.Client, request []byte) (any, any, error) {
		var r R
		if err := decodeRequest(request, &r); err != nil {
			return nil, nil, err
		}
		list := []T{}
		for one, err := range call(c, ctx, r) {
			if err != nil {
				return nil, nil, err
			}
			list = append(list, one)
		}
		return list, nil, nil
	}
}

func decodeRequest(request []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(request))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

type deletion struct{ InTime bool }

func deleted[R any](call func(*client.Client, context.Context, R) (bool, error)) sdkCall {
	return plain(func(c *client.Client, ctx context.Context, r R) (deletion, error) {
		inTime, err := call(c, ctx, r)
		return deletion{inTime}, err
	})
}

type (
	named  struct{ Name string }
	scoped struct{ Namespace string }
	batch  struct {
		Timers []client.CreateTimerRequest
	}
	deletions struct {
		Timers []client.DeleteTimerRequest
	}
	scheduleBatch struct {
		Schedules []client.CreateScheduleRequest
	}
	scheduleDeletions struct {
		Schedules []client.DeleteScheduleRequest
	}
)

// sdkCalls has every call of the scripts.
var sdkCalls = map[string]sdkCall{
	"CreateTimer": plain((*client.Client).CreateTimer), "GetTimer": plain((*client.Client).GetTimer),
	"UpdateTimer": plain((*client.Client).UpdateTimer), "DeleteTimer": deleted((*client.Client).DeleteTimer),
	"ListTimers": plain((*client.Client).ListTimers), "AllTimers": all((*client.Client).AllTimers),
	"CountTimers": plain((*client.Client).CountTimers), "ForecastTimers": plain((*client.Client).ForecastTimers),
	"GetTimerHistory": plain((*client.Client).TimerHistory), "RunTimerNow": plain((*client.Client).RunTimerNow),
	"PauseTimer": plain((*client.Client).PauseTimer), "ResumeTimer": plain((*client.Client).ResumeTimer),
	"RetryTimer": plain((*client.Client).RetryTimer),
	"BatchCreateTimers": plain(func(c *client.Client, ctx context.Context, r batch) ([]client.BatchResult, error) {
		return c.BatchCreateTimers(ctx, r.Timers)
	}),
	"BatchDeleteTimers": plain(func(c *client.Client, ctx context.Context, r deletions) ([]client.BatchResult, error) {
		return c.BatchDeleteTimers(ctx, r.Timers)
	}),
	"DeleteMatchingTimers":     plain((*client.Client).DeleteMatching),
	"RescheduleMatchingTimers": plain((*client.Client).RescheduleMatching),
	"ResumeMatchingTimers":     plain((*client.Client).ResumeMatching),

	"DeleteAllMatchingTimers": walk((*client.Client).DeleteAllMatching), "PurgeAllMatchingTimers": walk((*client.Client).PurgeAllMatching),
	"PauseAllMatchingTimers": walk((*client.Client).PauseAllMatching), "ResumeAllMatchingTimers": walk((*client.Client).ResumeAllMatching),
	"RetryAllMatchingTimers": walk((*client.Client).RetryAllMatching), "RescheduleAllMatchingTimers": walk((*client.Client).RescheduleAllMatching),
	"PauseAllMatchingSchedules":  walk((*client.Client).PauseAllMatchingSchedules),
	"ResumeAllMatchingSchedules": walk((*client.Client).ResumeAllMatchingSchedules),
	"DeleteAllMatchingSchedules": walk((*client.Client).DeleteAllMatchingSchedules),

	"CreateSchedule": plain((*client.Client).CreateSchedule), "GetSchedule": plain((*client.Client).GetSchedule),
	"UpdateSchedule": plain((*client.Client).UpdateSchedule), "DeleteSchedule": deleted((*client.Client).DeleteSchedule),
	"ListSchedules": plain((*client.Client).ListSchedules), "AllSchedules": all((*client.Client).AllSchedules),
	"PauseSchedule": plain((*client.Client).PauseSchedule), "ResumeSchedule": plain((*client.Client).ResumeSchedule),
	"TriggerSchedule": plain((*client.Client).TriggerSchedule), "BackfillSchedule": plain((*client.Client).BackfillSchedule),
	"BackfillAll": walk((*client.Client).BackfillAll), "PreviewSchedule": plain((*client.Client).PreviewSchedule),
	"GetScheduleHistory": plain((*client.Client).ScheduleHistory),

	"BatchCreateSchedules": plain(func(c *client.Client, ctx context.Context, r scheduleBatch) ([]client.ScheduleBatchResult, error) {
		return c.BatchCreateSchedules(ctx, r.Schedules)
	}),
	"BatchDeleteSchedules": plain(func(c *client.Client, ctx context.Context, r scheduleDeletions) ([]client.ScheduleBatchResult, error) {
		return c.BatchDeleteSchedules(ctx, r.Schedules)
	}),

	"CreateNamespace": plain((*client.Client).CreateNamespace), "UpdateNamespace": plain((*client.Client).UpdateNamespace),
	"DeleteNamespace": plain((*client.Client).DeleteNamespace),
	"GetNamespace": plain(func(c *client.Client, ctx context.Context, r named) (client.Namespace, error) {
		return c.GetNamespace(ctx, r.Name)
	}),
	"ListNamespaces": plain(func(c *client.Client, ctx context.Context, _ struct{}) ([]client.Namespace, error) {
		return c.ListNamespaces(ctx)
	}),
	"ListShards": plain(func(c *client.Client, ctx context.Context, r scoped) ([]client.Shard, error) {
		return c.ListShards(ctx, r.Namespace)
	}),
	"ListFlows": plain((*client.Client).ListFlows), "ListTargets": plain((*client.Client).ListTargets),
	"CreateKey": plain((*client.Client).CreateKey), "RotateKey": plain((*client.Client).RotateKey),
	"ListKeys": plain(func(c *client.Client, ctx context.Context, _ struct{}) ([]client.Key, error) { return c.ListKeys(ctx) }),
	"RevokeKey": plain(func(c *client.Client, ctx context.Context, r named) (struct{}, error) {
		return struct{}{}, c.RevokeKey(ctx, r.Name)
	}),
	"GetCaller": plain(func(c *client.Client, ctx context.Context, _ struct{}) (client.Caller, error) { return c.Caller(ctx) }),

	"AdvanceClock": plain((*client.Client).AdvanceClock), "SetClock": plain((*client.Client).SetClock),
	"GetClock": plain(func(c *client.Client, ctx context.Context, _ struct{}) (client.TestClock, error) { return c.Clock(ctx) }),
}

// TestConformance executes the scripts that every SDK executes.
func TestConformance(t *testing.T) {
	t.Parallel()
	service, err := harness.New(binary, t.TempDir(), harness.WithEnv(conformance.Environment()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := service.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	for name, steps := range conformanceScripts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, err := conformance.Start(service.URL())
			if err != nil {
				t.Fatal(err)
			}
			defer proxy.Close()
			runner := &conformanceRunner{proxy: proxy, variables: map[string]string{"proxy": proxy.URL()}}
			for i := range steps {
				if err := runner.step(t, &steps[i]); err != nil {
					t.Fatalf("%s: %v", steps[i].Name, err)
				}
			}
		})
	}
}

// TestConformanceScriptsHaveEveryOperation: the runner of each SDK fails at a call that it does not know, so each SDK has every operation
// of the HTTP API that the scripts have. These are all but the stream of events.
func TestConformanceScriptsHaveEveryOperation(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../schemas/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `yaml:"operationId"`
		}
	}
	if err := yaml.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, steps := range conformanceScripts(t) {
		for i := range steps {
			called[steps[i].Call] = true
		}
	}
	operations := 0
	for path, methods := range document.Paths {
		if !strings.HasPrefix(path, "/api/v1/") || path == "/api/v1/events/stream" {
			continue // probes, metrics, and the stream, which SDKs do not read
		}
		for method, operation := range methods {
			operations++
			// SDKs have some operations on filters only as walks over all pages.
			walk := strings.Replace(operation.OperationID, "Matching", "AllMatching", 1)
			if !called[operation.OperationID] && !called[walk] {
				t.Errorf("%s %s: no script of sdk/conformance calls %s or %s", method, path, operation.OperationID, walk)
			}
		}
	}
	if operations < 50 {
		t.Errorf("%s has %d operations, want at least 50: this test reads it wrongly", "schemas/openapi.yaml", operations)
	}
	for call := range sdkCalls {
		if !called[call] {
			t.Errorf("no script of sdk/conformance calls %s", call)
		}
	}
}

// conformanceScripts returns the steps of each script.
func conformanceScripts(t *testing.T) map[string][]conformanceStep {
	t.Helper()
	files, err := filepath.Glob("../sdk/conformance/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	scripts := map[string][]conformanceStep{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var script struct {
			Name, About string
			Steps       []conformanceStep
		}
		if err := decodeRequest(raw, &script); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scripts[strings.TrimSuffix(filepath.Base(file), ".json")] = script.Steps
	}
	return scripts
}

type conformanceRunner struct {
	proxy     *conformance.Proxy
	variables map[string]string
}

func (r *conformanceRunner) step(t *testing.T, s *conformanceStep) error {
	t.Helper()
	call := sdkCalls[s.Call]
	if call == nil {
		return fmt.Errorf("unknown call %q", s.Call)
	}
	longest, timeout := 50*time.Millisecond, 30*time.Second
	for _, setting := range []struct {
		text string
		into *time.Duration
	}{{s.Client.Longest, &longest}, {s.Client.Timeout, &timeout}} {
		if setting.text == "" {
			continue
		}
		d, err := timer.ParseDuration(setting.text)
		if err != nil {
			return err
		}
		*setting.into = d
	}
	c, err := client.New(r.proxy.URL(), client.WithRetry(cmp.Or(s.Client.Tries, 4), longest),
		client.WithToken(conformance.Token), client.WithHTTPClient(&http.Client{Timeout: timeout, Transport: &http.Transport{}}))
	if err != nil {
		return err
	}
	end := time.Now().Add(20 * time.Second)
	for {
		err := r.try(t, s, c, call)
		if err == nil || !s.Until || time.Now().After(end) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (r *conformanceRunner) try(t *testing.T, s *conformanceStep, c *client.Client, call sdkCall) error {
	t.Helper()
	request := []byte("{}")
	if s.Request != nil {
		request = []byte(r.replaced(string(s.Request)))
	}
	if err := r.control(t, http.MethodPost, "faults", string(orEmpty(s.Faults)), nil); err != nil {
		return err
	}
	begin := time.Now()
	answer, progress, err := call(within(t, patience), c, request)
	took := time.Since(begin)
	switch {
	case s.Error != nil:
		if err == nil {
			return fmt.Errorf("the answer is %s, want the error %v", shown(answer), s.Error)
		}
		if err := r.matches("error", s.Error, described(err, progress)); err != nil {
			return fmt.Errorf("%w\nof the error %w", err, errors.New(shown(described(err, progress))))
		}
	case err != nil:
		return err
	default:
		got := generic(answer)
		if err := r.matches("answer", s.Expect, got); err != nil {
			return fmt.Errorf("%w\nof the answer %s", err, shown(got))
		}
		for name, field := range s.Save {
			fields, _ := got.(map[string]any)
			r.variables[name], _ = fields[field].(string)
		}
	}
	if s.AtLeast != "" {
		atLeast, err := timer.ParseDuration(s.AtLeast)
		if err != nil {
			return fmt.Errorf("atLeast: %w", err)
		}
		if took < atLeast {
			return fmt.Errorf("the call took %s, want at least %s", took, atLeast)
		}
	}
	var got struct{ Tries int }
	if err := r.control(t, http.MethodGet, "tries", "", &got); err != nil {
		return err
	}
	if s.Tries != 0 && got.Tries != s.Tries {
		return fmt.Errorf("%d tries, want %d", got.Tries, s.Tries)
	}
	return nil
}

func orEmpty(faults json.RawMessage) json.RawMessage {
	if faults == nil {
		return json.RawMessage("[]")
	}
	return faults
}

func (r *conformanceRunner) replaced(text string) string {
	for name, value := range r.variables {
		text = strings.ReplaceAll(text, "${"+name+"}", value)
	}
	return text
}

// control repeats requests that a refusing proxy does not accept.
func (r *conformanceRunner) control(t *testing.T, method, path, body string, into any) error {
	t.Helper()
	ctx := within(t, patience)
	for ; ; time.Sleep(10 * time.Millisecond) {
		request, err := http.NewRequestWithContext(ctx, method, r.proxy.URL()+conformance.Prefix+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue
		}
		return answered(path, response, into)
	}
}

func answered(path string, response *http.Response, into any) error {
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// described returns an error as scripts describe it.
func described(err error, progress any) map[string]any {
	d := map[string]any{"kind": "connection", "message": err.Error(), "mayBeApplied": client.MayBeApplied(err), "progress": generic(progress)}
	var answered *client.Error
	var network net.Error
	switch {
	case errors.As(err, &answered):
		d["kind"], d["status"], d["code"] = "service", float64(answered.Status), string(answered.Code)
		d["details"], d["field"] = generic(answered.Details), answered.Details["field"]
	case errors.As(err, &network) && network.Timeout():
		d["kind"] = "timeout"
	}
	return d
}

// generic returns a value as decoded JSON, with the names of scripts.
func generic(v any) any {
	switch results := v.(type) {
	case []client.BatchResult:
		list := make([]any, len(results))
		for i := range results {
			list[i] = item(results[i].BatchWritten, results[i].Err)
		}
		return list
	case []client.ScheduleBatchResult:
		list := make([]any, len(results))
		for i := range results {
			list[i] = item(results[i].ScheduleBatchWritten, results[i].Err)
		}
		return list
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return err.Error()
	}
	return lowered(decoded)
}

// item is the result of one item of a batch, as scripts describe it.
func item(written any, refused *client.Error) any {
	if refused == nil {
		return generic(written)
	}
	return map[string]any{"error": map[string]any{"status": float64(refused.Status), "code": string(refused.Code), "field": refused.Details["field"]}}
}

// lowered changes the names of Go's fields to those of scripts.
func lowered(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for _, name := range slices.Collect(maps.Keys(m)) {
		switch lower := strings.ToLower(name[:1]) + name[1:]; {
		case name == "ID":
			m["id"] = m[name]
		case name == "InTime", name == "Namespace", name == "Generation", name == "DueAt", name == "Kept",
			name == "Version", name == "NextAt", lower != name && m[lower] == nil &&
				slices.Contains([]string{"pages", "matched", "applied", "late", "skipped", "cursor", "requests", "created", "nextFrom", "startAt"}, lower):
			m[lower] = m[name]
		}
	}
	return m
}

func shown(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// matches compares an answer with the expected one.
func (r *conformanceRunner) matches(path string, want, got any) error {
	mismatch := fmt.Errorf("%s is %s, want %s", path, shown(got), shown(want))
	switch w := want.(type) {
	case nil:
		// An instant of Go that is not set is the zero time.
		if got != nil && got != "" && got != "0001-01-01T00:00:00.000Z" && shown(got) != "{}" && shown(got) != "[]" {
			return mismatch
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return mismatch
		}
		for name, value := range w {
			if err := r.matches(path+"."+name, value, g[name]); err != nil {
				return err
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok && got != nil || len(g) != len(w) {
			return mismatch
		}
		for i := range w {
			if err := r.matches(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); err != nil {
				return err
			}
		}
	case string:
		w = r.replaced(w)
		if w == "*" {
			if got == nil {
				return mismatch
			}
			return nil
		}
		text, ok := got.(string)
		if got == nil && w == "" || ok && sameText(path, w, text) {
			return nil
		}
		return mismatch
	default:
		if fmt.Sprint(want) != fmt.Sprint(got) {
			return mismatch
		}
	}
	return nil
}

// sameText reports whether two strings are equal, mean the same instant or duration, or, for a message, whether it contains the first.
func sameText(path, want, got string) bool {
	if want == got || strings.HasSuffix(path, ".message") && strings.Contains(got, want) {
		return true
	}
	a, err := time.Parse(time.RFC3339, want)
	b, other := time.Parse(time.RFC3339, got)
	if err == nil && other == nil {
		return a.Equal(b)
	}
	x, err := timer.ParseDuration(want)
	y, other := timer.ParseDuration(got)
	return err == nil && other == nil && x == y
}
