package e2e_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDynamoDBSaysWhatIsWrong: one line of the output says what to change; log lines of a slow start may precede it. The
// engine's tests cover errors of tables.
func TestDynamoDBSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	// Without any configuration that the SDK might find on this machine.
	bare := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "TIMERBUS_") || strings.HasPrefix(v, "HOME=")
	})
	bare = append(bare, "HOME="+t.TempDir(), "AWS_EC2_METADATA_DISABLED=true")
	keys := []string{"AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x"}
	for name, c := range map[string]struct {
		store string
		env   []string
		says  []string
	}{
		"no region": {"dynamodb://timers", keys, []string{"dynamodb://timers", "no AWS region", "?region="}},
		"no credentials": {
			"dynamodb://timers?region=eu-central-1", nil, []string{"no AWS credentials", "give this process a role", "AWS_ACCESS_KEY_ID"},
		},
		"no server": {
			"dynamodb://timers?region=local&endpoint=http://127.0.0.1:1", keys,
			[]string{"http://127.0.0.1:1 cannot be reached", "look at region and endpoint", "refused"},
		},
		"a parameter that is none": {"dynamodb://timers?regio=local", keys, []string{`"regio" is not accepted`, "dynamodb://table?region="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, verb := range [][]string{{"migrate", "status"}, {"ingest", "--listen", "127.0.0.1:0", "--bus", "nats://127.0.0.1:1"}} {
				command := exec.CommandContext(within(t, patience), binary, append(verb, "--store", c.store)...)
				command.Env = append(slices.Clone(bare), c.env...)
				out, err := command.CombinedOutput()
				if err == nil {
					t.Errorf("%s: it works:\n%s", verb, out)
				}
				lines := strings.Split(string(out), "\n")
				message := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "timerbus: ") })
				if message < 0 {
					t.Errorf("%s: no message:\n%s", verb, out)
					continue
				}
				for _, want := range c.says {
					if !strings.Contains(lines[message], want) {
						t.Errorf("%s: the message does not contain %q:\n%s", verb, want, out)
					}
				}
			}
		})
	}
}
