package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/process"
)

func shownConfig(t *testing.T, args ...string) map[string]setting {
	t.Helper()
	got := command(t, append(append([]string{"config"}, args...), "--json")...)
	var answer struct {
		Role     string
		Settings []setting
	}
	if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || got.code != exitOK || answer.Role != args[0] {
		t.Fatalf("exit code %d, %v: %s%s", got.code, err, got.stdout, got.stderr)
	}
	settings := map[string]setting{}
	for _, s := range answer.Settings {
		settings[s.Name] = s
	}
	return settings
}

func TestConfigShowsTheOriginOfEachSetting(t *testing.T) {
	hermetic(t)
	file := filepath.Join(t.TempDir(), "timerbus.yaml")
	if err := os.WriteFile(file, []byte("drain-timeout: 30s\nlog-level: warn\npartitions: 8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TIMERBUS_CONFIG", file)
	t.Setenv("TIMERBUS_LOG_LEVEL", "debug")
	t.Setenv("TIMERBUS_PARTITIONS", "4")
	got := shownConfig(t, "dev", "--partitions", "2")
	for _, want := range []setting{
		{"listen", "127.0.0.1:8080", process.FromDefault, ""},
		{"token", "", process.FromDefault, ""},
		{"drain-timeout", "30s", process.FromFile, file + ": drain-timeout"},
		{"log-level", "debug", process.FromEnvironment, "TIMERBUS_LOG_LEVEL"},
		{"partitions", "2", process.FromFlag, "--partitions"},
	} {
		if got[want.Name] != want {
			t.Errorf("%s: %+v, want %+v", want.Name, got[want.Name], want)
		}
	}
	if len(got) != len(process.Settings()) {
		t.Errorf("%d settings, want %d", len(got), len(process.Settings()))
	}
	table := command(t, "config", "dev", "--partitions", "2").stdout
	if !regexp.MustCompile(`(?m)^partitions +2 +flag +--partitions$`).MatchString(table) {
		t.Errorf("the table has no line for partitions:\n%s", table)
	}
}

func TestConfigOfARoleHasTheDefaultsOfTheRole(t *testing.T) {
	hermetic(t)
	got := shownConfig(t, "scheduler", "--store", "postgres://h/db", "--bus", "nats://h:4222")
	if _, has := got["data"]; has || got["listen"].Value != "127.0.0.1:8081" || got["start-wait"].Value != "1m0s" {
		t.Errorf("settings of a scheduler: %+v", got)
	}
}

func TestConfigMasksSecrets(t *testing.T) {
	hermetic(t)
	t.Setenv("TIMERBUS_TOKEN", "hush")
	t.Setenv("TIMERBUS_SECRET_KEY", "aHVzaGh1c2hodXNoaHVzaGh1c2hodXNoaHVzaGh1c2g=")
	t.Setenv("TIMERBUS_CALLBACK_PROXY", "http://me:hush@proxy:3128")
	for store, shown := range map[string]string{
		"postgres://me:hush@db:5432/timerbus":                         "postgres://me@db:5432/timerbus",
		"postgres://db/timerbus?user=me&password=hush&sslmode=prefer": "postgres://db/timerbus?user=me&password=xxxxx&sslmode=prefer",
		"postgres://me:p%40hush@db/timerbus?sslpassword=hush":         "postgres://me@db/timerbus?sslpassword=xxxxx",
		"postgres://me:hush?hush@db/timerbus":                         "postgres://xxxxx",
		"postgres://db:5432/timerbus?password=hu@hush":                "postgres://xxxxx",
		"postgres://me@db/timerbus":                                   "postgres://me@db/timerbus",
		"me:hush@db":                                                  "xxxxx",
	} {
		for bus, shownBus := range map[string]string{
			"nats://hush@a:4222,b:4222": "nats://xxxxx@a:4222,b:4222",
			"kafka://me:hush@a:9092":    "kafka://me@a:9092",
		} {
			args := []string{"dispatcher", "--store", store, "--bus", bus}
			got := shownConfig(t, args...)
			if got["store"].Value != shown || got["bus"].Value != shownBus {
				t.Errorf("%s, %s: shown as %s, %s", store, bus, got["store"].Value, got["bus"].Value)
			}
			if got["token"].Value != backend.Masked || got["secret-key"].Value != backend.Masked || got["callback-proxy"].Value != "http://me@proxy:3128" {
				t.Errorf("secrets are shown as %+v", got)
			}
			text := command(t, append([]string{"config"}, args...)...)
			if all := text.stdout + text.stderr; strings.Contains(all, "hush") || strings.Contains(all, "aHVz") {
				t.Errorf("a secret is shown:\n%s", all)
			}
		}
	}
}

// TestConfigOfARoleThatWouldNotStart: the settings are shown nevertheless, because they show the mistake.
func TestConfigOfARoleThatWouldNotStart(t *testing.T) {
	hermetic(t)
	for args, want := range map[string]string{
		"config ingest --store postgres://h/db":                  "timerbus ingest would not start: --bus is missing",
		"config dev --test-clock --store postgres://a:hush@db/t": "test-clock: true is not accepted: want false with a store",
		"config dev --partitions 0":                              "partitions: 0 is not accepted: want 1 to 1024",
		"config dev --listen 0.0.0.0:80":                         "other machines could use the API without a token",
		"config scheduler --store sqlite:x --bus nats://h":       "--store sqlite: can be used by one process at a time only",
		"config dispatcher --callback-proxy http//me:hush@":      "callback-proxy",
	} {
		got := command(t, strings.Fields(args)...)
		if got.code != exitUsage || !strings.Contains(got.stdout, "SETTING") || !strings.Contains(got.stderr, want) ||
			strings.Contains(got.stdout+got.stderr, "hush") {
			t.Errorf("%s: exit code %d\n%s%s\nwant %d and %s", args, got.code, got.stdout, got.stderr, exitUsage, want)
		}
	}
	t.Setenv("TIMERBUS_LISTE", "x")
	if got := command(t, "config", "dev"); got.code != exitUsage || !strings.Contains(got.stderr, "TIMERBUS_LISTE is not a setting") {
		t.Errorf("an unknown variable: exit code %d, %s", got.code, got.stderr)
	}
}
