package e2e_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/timerbus/timerbus/e2e/internal/harness"
)

// rulesFolder has the alert rules and their scenarios.
var rulesFolder = filepath.Join("..", "deploy", "prometheus")

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rulesFolder, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

type alertRule struct {
	Alert, Expr string
	Annotations map[string]string
}

func alertRules(t *testing.T) (all []alertRule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []alertRule } }
	readYAML(t, "timerbus.rules.yml", &file)
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// TestAlertRulesUseExportedMetrics: a rule on a metric that no process exports would never fire. The process runs on Kafka,
// which has metrics that NATS does not have.
func TestAlertRulesUseExportedMetrics(t *testing.T) {
	t.Parallel()
	bus := needBus(t, "kafka")
	w := &world{Service: newService(t, t.TempDir(), harness.WithArgs("--bus", bus.url)), namespace: "default"}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	metrics := w.do(t, http.MethodGet, "/metrics", "")
	// Metrics whose labels depend on events appear with the first one, and others have their TYPE line.
	exported := map[string]bool{"up": true}
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(metrics.body, -1) {
		exported[line[1]] = true
		if line[2] == "histogram" {
			exported[line[1]+"_bucket"] = true
		}
	}
	used := map[string]bool{}
	for _, rule := range alertRules(t) {
		for _, name := range regexp.MustCompile(`\btimerbus_[a-z_]+\b`).FindAllString(rule.Expr, -1) {
			used[name] = true
		}
	}
	if len(used) == 0 {
		t.Fatal("the rules use no metric: the test proves nothing")
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !exported[name] {
			t.Errorf("%s is not exported", name)
		}
	}
}

// TestEveryAlertHasScenarios: in one it fires, in one it does not. `make check-alerts` runs them.
func TestEveryAlertHasScenarios(t *testing.T) {
	t.Parallel()
	var scenarios struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string
				ExpAlerts []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, "timerbus.rules.test.yml", &scenarios)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range scenarios.Tests {
		for _, check := range test.AlertRuleTest {
			if len(check.ExpAlerts) > 0 {
				fires[check.Alertname] = true
			} else {
				silent[check.Alertname] = true
			}
		}
	}
	documented, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range alertRules(t) {
		if !fires[rule.Alert] || !silent[rule.Alert] {
			t.Errorf("%s: fires in a scenario: %v, is silent in one: %v", rule.Alert, fires[rule.Alert], silent[rule.Alert])
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["action"] == "" {
			t.Errorf("%s has no summary or no action", rule.Alert)
		}
		if !strings.Contains(string(documented), "`"+rule.Alert+"`") {
			t.Errorf("docs/operations.md does not mention %s", rule.Alert)
		}
	}
	if len(fires) == 0 {
		t.Error("no rule has a scenario")
	}
}
