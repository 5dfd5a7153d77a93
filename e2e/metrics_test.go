package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/e2e/internal/harness"
)

// TestMetricsAreDocumented: docs/metrics.md has a line with name and type for each metric of a process, and a process on Kafka
// exports each of its lines. Metrics with labels may appear with the first event only, so their absence is no error.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	bus := needBus(t, "kafka")
	w := &world{Service: newService(t, t.TempDir(), harness.WithArgs("--bus", bus.url)), namespace: "default"}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, reference, _ := strings.Cut(string(page), "## Reference")
	documented, labels := map[string]string{}, map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\| ([a-z, ]*)\\| ").FindAllStringSubmatch(reference, -1) {
		documented[row[1]], labels[row[1]] = row[2], strings.TrimSpace(row[3])
	}
	exported := map[string]bool{}
	metrics := w.do(t, http.MethodGet, "/metrics", "").body
	for _, line := range regexp.MustCompile(`(?m)^# TYPE timerbus_(\S+) (\S+)$`).FindAllStringSubmatch(metrics, -1) {
		exported[line[1]] = true
		if documented[line[1]] != line[2] {
			t.Errorf("%s is a %s; docs/metrics.md says %q", line[1], line[2], documented[line[1]])
		}
	}
	if len(exported) == 0 || len(documented) == 0 {
		t.Fatalf("%d metrics are exported, %d documented: the test proves nothing", len(exported), len(documented))
	}
	for name := range documented {
		if !exported[name] && labels[name] == "" {
			t.Errorf("docs/metrics.md describes %s, which is not exported", name)
		}
	}
}
