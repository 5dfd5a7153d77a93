package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

// withoutSeries has the queries that may return nothing in TestDashboardQueries, with the reason.
var withoutSeries = map[string]string{
	"topk(10, timerbus_scheduler_hottest_shard_events)":                               "it has values after a full minute",
	"sum by (operation) (rate(timerbus_scheduler_failures_total[$__rate_interval]))":  "no call fails",
	"sum by (operation) (rate(timerbus_dispatcher_failures_total[$__rate_interval]))": "no call fails",
}

// dashboardQueries returns the queries of all panels, by panel.
func dashboardQueries(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "deploy", "grafana", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	queries := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			Panels []struct {
				Type, Title string
				Datasource  struct{ UID string }
				Targets     []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(text, &board); err != nil {
			t.Fatal(err)
		}
		for _, panel := range board.Panels {
			if panel.Type == "row" {
				continue
			}
			if panel.Datasource.UID != "prometheus" || len(panel.Targets) == 0 {
				t.Errorf("panel %q has %d queries of the data source %q, which deploy/compose does not provision",
					panel.Title, len(panel.Targets), panel.Datasource.UID)
			}
			for _, target := range panel.Targets {
				queries[panel.Title] = append(queries[panel.Title], target.Expr)
			}
		}
	}
	return queries
}

// TestDashboardQueries runs the query of each panel on a Prometheus that scrapes a running service, after timers of every
// kind were delivered: each returns a series with a number.
func TestDashboardQueries(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prometheus"); err != nil {
		if testing.Short() {
			t.Skip("no prometheus")
		}
		t.Fatal("prometheus is missing: it is in Debian's package prometheus, and in the downloads of Prometheus")
	}
	w := startOwn(t)
	prometheus := startPrometheus(t, w.Listen)
	queries := dashboardQueries(t)
	var missing []string
	var asked map[string]bool
	for begun, round := time.Now(), 0; round == 0 || len(missing) > 0 && time.Since(begun) < patience; round++ {
		// Quantiles over a few seconds need events in these seconds.
		for _, status := range []int{200, 410, 500} {
			id := fmt.Sprintf("%d-%d", status, round)
			w.receiver.On(w.namespace, id, receiver.Answer{Status: status})
			w.create(t, id, 0)
		}
		w.create(t, fmt.Sprint("event", round), 0, func(r *client.CreateTimerRequest) { r.Deliver, r.CallbackURL = client.DeliverEvent, "" })
		command := w.command(fmt.Sprint("command", round), "create", `{"namespace":"default","id":"ID","executeIn":"1h","callbackUrl":"http://localhost:1/"}`)
		if err := w.tap.Publish(t.Context(), tap.Commands, command, event.Structured); err != nil {
			t.Fatal(err)
		}
		pause(t.Context(), time.Second)
		missing, asked = nil, map[string]bool{}
		for panel, exprs := range queries {
			for _, expr := range exprs {
				if values := ask(t, prometheus, expr); len(values) == 0 && withoutSeries[expr] == "" {
					missing = append(missing, fmt.Sprintf("%s: %s", panel, expr))
				}
				asked[expr] = true
			}
		}
	}
	for _, query := range missing {
		t.Errorf("no series: %s", query)
	}
	for expr := range withoutSeries {
		if !asked[expr] {
			t.Errorf("no panel has the query %s", expr)
		}
	}
	if values := ask(t, prometheus, "timerbus_no_such_metric"); len(values) != 0 {
		t.Errorf("a metric that does not exist has the values %v: the test proves nothing", values)
	}
}

// startPrometheus starts a Prometheus that scrapes the address every second, and returns its URL.
func startPrometheus(t *testing.T, target string) string {
	t.Helper()
	folder := t.TempDir()
	config := fmt.Sprintf(`global: {scrape_interval: 1s}
scrape_configs: [{job_name: timerbus, static_configs: [{targets: ["%s"]}]}]
`, target)
	path := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address, err := harness.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	command := exec.CommandContext(t.Context(), "prometheus", "--config.file="+path,
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address, "--log.level=warn")
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the end of the test's context has killed it
		_ = command.Wait()
		if t.Failed() {
			t.Logf("log of Prometheus:\n%s", log.String())
		}
	})
	base := "http://" + address
	ctx := within(t, patience)
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/-/ready", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return base
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("Prometheus does not get ready: %v", err)
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// ask returns the values of a query that are numbers. The test fails if Prometheus refuses the query.
func ask(t *testing.T, base, expr string) (values []float64) {
	t.Helper()
	expr = strings.ReplaceAll(expr, "$__rate_interval", "10s")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/query?query="+url.QueryEscape(expr), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %s %s %v", expr, answer.Status, answer.Error, err)
	}
	for _, series := range answer.Data.Result {
		text, _ := series.Value[1].(string)
		if value, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(value) {
			values = append(values, value)
		}
	}
	return values
}
