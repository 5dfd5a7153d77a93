package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// hermetic removes the developer's TIMERBUS_ variables from the environment.
func hermetic(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "TIMERBUS_") {
			t.Setenv(name, "")
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestUsageErrors(t *testing.T) {
	hermetic(t)
	folder := t.TempDir()
	notJSON := filepath.Join(folder, "payload.json")
	if err := os.WriteFile(notJSON, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"":                                    "want a command: dev, ingest, scheduler, dispatcher, config, doctor, healthcheck, migrate, outbox, backup, restore, receive, timer, schedule, namespace, key, shard, flow, clock, bench, version",
		"frob":                                `"frob" is not a command: want dev, ingest`,
		"timer":                               "want a command: create, get, update, delete, run-now, retry, pause, resume, list, count, forecast, history, watch, batch-create, batch-delete, reschedule",
		"timer frob":                          `"frob" is not a command: want create`,
		"timer create":                        "create needs ID",
		"timer get a --id b":                  `"a" is not accepted: get wants no argument`,
		"timer create a b --in 1s":            `"b" is not accepted: create wants ID`,
		"timer create a":                      "create needs --at or --in or --at-local",
		"timer create a --at-local x":         "--at-local needs --time-zone",
		"timer update a --in 1s --gap skip":   "--gap needs --at-local",
		"timer update a --time-zone UTC":      "--time-zone needs --at-local",
		"timer create a --in 1s --at-local x": "--in and --at-local exclude each other",
		"timer create a --at x --in 1s":       "--at and --in exclude each other",
		"timer create a --at tomorrow":        `--at: time: "tomorrow" is not accepted: want an RFC 3339 time`,
		"timer create a --in 1s --payload {":  `--payload: "{" is not accepted: want JSON`,
		"timer create a --in 1s --payload @" + notJSON:            `--payload: "{" is not accepted: want JSON`,
		"timer create a --in 1s --payload @/no":                   "--payload: open /no",
		"timer create a --max-attempts many":                      `invalid argument "many"`,
		"timer update a --clear colour":                           `--clear: "colour" is not accepted: want some of callback-timeout`,
		"timer update a --clear payload --payload 1":              "--clear payload and --payload exclude each other",
		"timer update a --clear retry --max-attempts 2":           "--clear retry and the flags of a retry policy exclude each other",
		"timer list --due-from x":                                 "--due-from: ",
		"timer batch-create a b":                                  `"b" is not accepted: batch-create wants one FILE`,
		"timer batch-create /does/not/exist":                      "FILE: open /does/not/exist",
		"timer batch-create --batch-size 1001":                    "--batch-size: 1001 is not accepted: want 1 to 1000",
		"timer batch-create --in-flight 0":                        "--in-flight: 0 is not accepted: want 1 to 16",
		"timer batch-delete --from-line 0":                        "--from-line: 0 is not accepted: want 1 or more",
		"timer delete a --matching --status parked":               `"a" is not accepted: delete wants no argument`,
		"timer delete --matching":                                 "delete by filter needs --status, --correlation-id, --due-from or --due-before",
		"timer delete --matching --status parked":                 "no terminal to confirm that all timers in namespace default, with status parked are to be deleted: add --yes, or --dry-run",
		"timer delete a --status parked":                          "--status selects many timers and requires --matching",
		"timer delete --matching --status dead --if-generation 7": "--matching and --if-generation exclude each other",
		"timer delete --matching --due-from x":                    "--due-from: ",
		"timer delete --matching --status parked --page-size 0":   "--page-size: 0 is not accepted: want 1 to 1000",
		"timer retry": "retry needs ID",
		"timer retry --matching --correlation-id c --yes":          "retry --matching needs --status dead or --status parked",
		"timer retry a --at x":                                     "--at: ",
		"timer retry a --at x --in 1s":                             "--at and --in exclude each other",
		"namespace delete shop":                                    "no terminal to confirm that namespace shop is to be deleted: add --yes, or --dry-run",
		"timer purge --correlation-id c --yes":                     "purge needs --status dead or --status done",
		"timer purge --status dead":                                "no terminal to confirm that all timers in namespace default, with status dead are to be purged: add --yes, or --dry-run",
		"timer purge a --status dead":                              `"a" is not accepted: purge wants no argument`,
		"timer resume a --rate 5":                                  "--rate selects many timers and requires --matching",
		"timer reschedule --status parked":                         "reschedule needs --at or --in or --shift-by",
		"timer reschedule --shift-by 1h":                           "reschedule by filter needs --status",
		"timer reschedule --shift-by 1h --in 1s --status retrying": "--in and --shift-by exclude each other",
		"timer watch a b":                                          `"b" is not accepted: watch wants one ID or none`,
		"timer watch --outcome bad":                                `--outcome: "bad" is not accepted: want one of done`,
		"timer watch --bus http://x":                               "--bus: ",
		"timer watch --count -1":                                   "--count: -1 is not accepted",
		"timer watch --since -1s":                                  "--since: -1s is not accepted",
		"shard":                                                    "want a command: list",
		"shard list x":                                             `"x" is not accepted: list wants no argument`,
		"timer list x":                                             `"x" is not accepted: list wants no argument`,
		"timer get a --url ftp://x":                                `base URL "ftp://x" is not accepted`,
		"namespace create n":                                       "create needs --shards or --preset",
		"namespace create n --shards 1 --preset small":             "--shards and --preset exclude each other",
		"namespace update n":                                       "nothing to change",
		"namespace update n --overlap 1h":                          "--overlap requires --rotate-secret",
		"namespace update n --secret a --rotate-secret b":          "--secret and --rotate-secret exclude each other",
		"namespace update n --secret @/does/not/exist":             "--secret: ",
		"namespace update n --client-cert a":                       "--client-cert: ",
		"namespace update n --client-cert /dev/null":               "--client-cert and --client-key require each other",
		"namespace update n --clear colour":                        `"colour" is not accepted: want some of ca, callback-auth`,
		"namespace update n --clear secret --secret x":             "--clear secret and --secret exclude each other",
		"namespace update n --header x":                            "want 'Name: value'",
		"timer create a --in 1s --header a:1 --header a:2":         "--header: a is given twice",
		"timer update a --clear header --header a:1":               "--clear header and --header exclude each other",
		"receive --status 99":                                      "--status: 99 is not accepted: want 200 to 599",
		"receive --next-execute-in 1s --next-execute-at x":         "--next-execute-in and --next-execute-at exclude each other",
		"receive --next-execute-at x":                              "--next-execute-at: ",
		"receive --times -1":                                       "--times: -1",
		"receive --delay -1s":                                      "--delay: -1s",
		"receive --fail-first -1":                                  "--fail-first: -1",
		"receive --next-execute-in -1s":                            "--next-execute-in: -1s",
		"key create a":                                             "--grant is missing",
		"key create a --grant read":                                `--grant: "read"`,
		"key create a --grant read,rule@*":                         `--grant.verbs: "rule"`,
		"dev --frob":                                               "unknown flag: --frob",
		"dev x":                                                    `"x" is not accepted: dev wants no argument`,
		"dev --partitions 0":                                       "partitions: 0 is not accepted: want 1 to 1024",
		"dev --log-level loud":                                     `log-level: "loud" is not accepted: want debug, info, warn or error`,
		"dev --listen 0.0.0.0:0":                                   "without a token",
		"dev --listen :0":                                          "without a token",
		"dev --nats-listen 0.0.0.0:0":                              "without a token",
		"dev --config /does/not/exist":                             "/does/not/exist",

		"namespace update n --callback-auth digest --callback-auth-secret -":                       `"digest" is not accepted: want oauth2, basic or bearer`,
		"namespace update n --callback-auth bearer":                                                "--callback-auth requires --callback-auth-secret",
		"namespace update n --callback-auth bearer --callback-auth-secret hunter2":                 "a secret on the command line is not accepted",
		"namespace update n --callback-auth bearer --callback-auth-secret @/nowhere":               "--callback-auth-secret: open /nowhere",
		"namespace update n --callback-auth bearer --callback-auth-secret - --secret -":            "cannot both read the input",
		"namespace update n --callback-auth bearer --callback-auth-secret - --clear callback-auth": "exclude each other",
		"namespace update n --callback-scopes a":                                                   "--callback-scopes requires --callback-auth",
		"namespace update n --callback-auth-secret -":                                              "--callback-auth-secret requires --callback-auth",
	} {
		t.Run(line, func(t *testing.T) {
			got := command(t, strings.Fields(line)...)
			if got.code != exitUsage || !strings.Contains(got.stderr, want) || got.stdout != "" {
				t.Errorf("exit code %d\n%swant 2 and %s", got.code, got.stderr, want)
			}
			if !strings.Contains(got.stderr, "--help` for the accepted arguments") {
				t.Errorf("no way to help in %q", got.stderr)
			}
		})
	}
}

func TestSettingsFromTheEnvironmentAreChecked(t *testing.T) {
	hermetic(t)
	t.Setenv("TIMERBUS_PARTITION", "16")
	got := command(t, "dev")
	if got.code != exitUsage || !strings.Contains(got.stderr, "TIMERBUS_PARTITION is not a setting: want one of TIMERBUS_ALLOWED_HOSTS, TIMERBUS_BUS, TIMERBUS_CALLBACK_ALLOW,") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, line := range []string{"--help", "help timer", "dev --help", "receive --help", "timer create --help"} {
		if got := command(t, strings.Fields(line)...); got.code != exitOK || !strings.Contains(got.stdout, "Usage:") || got.stderr != "" {
			t.Errorf("%s: exit code %d, %q", line, got.code, got.stderr)
		}
	}
	b := readBuildInfo()
	if got := command(t, "version"); got.code != exitOK ||
		got.stdout != fmt.Sprintf("timerbus %s (commit %s, %s)\n", b.Version, b.Commit, runtime.Version()) {
		t.Errorf("version: %d, %q", got.code, got.stdout)
	}
	var shown buildInfo
	if got := command(t, "version", "--json"); got.code != exitOK || json.Unmarshal([]byte(got.stdout), &shown) != nil || shown != b {
		t.Errorf("version --json: %d, %q", got.code, got.stdout)
	}
}

func TestNobodyListens(t *testing.T) {
	hermetic(t)
	got := command(t, "timer", "get", "a", "--url", "http://127.0.0.1:1")
	if got.code != exitUnreachable || !strings.Contains(got.stderr, "No service listens there: start `timerbus dev`") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}
