package e2e_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestReadmeWorksAsPasted runs the commands of the README that use a service, unchanged except for the addresses.
func TestReadmeWorksAsPasted(t *testing.T) {
	t.Parallel()
	if onDatabase() && chosen().slow {
		t.Skipf("on a busy machine, a thousand timers at once take %s of a test longer than a request may", chosen().name)
	}
	w := startOwn(t)
	if ran := w.paste(t, "../README.md"); ran < 2 {
		t.Fatalf("%d blocks of commands found in the README, want curl and the command line", ran)
	}
	call := w.calls(t, "hello", 1)[0]
	if call.Lateness() < 0 || !strings.Contains(string(call.Payload), "hello, later") {
		t.Errorf("arrived %v late with %s", call.Lateness(), call.Payload)
	}
}

// TestGuidesWorkAsPasted does the same with the pages for people who come from another scheduler, and with that about idempotency.
func TestGuidesWorkAsPasted(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob("../docs/coming-from/*.md")
	if err != nil || len(guides) < 9 {
		t.Fatalf("%d guides found, want an index and eight pages: %v", len(guides), err)
	}
	for _, guide := range append(guides, "../docs/idempotency.md") {
		t.Run(filepath.Base(guide), func(t *testing.T) {
			t.Parallel()
			if startOwn(t).paste(t, guide) == 0 {
				t.Error("no block of commands found")
			}
		})
	}
}

// paste runs the blocks of a page that begin with curl or timerbus, and returns their number.
func (w *world) paste(t *testing.T, page string) (ran int) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	hook, err := url.Parse(w.receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer("127.0.0.1:8080", w.Listen, "127.0.0.1:9000", hook.Host)
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(block[1], "curl ") && !strings.HasPrefix(block[1], "timerbus ") {
			continue
		}
		ran++
		// -e: the first failing command ends the script.
		shell := exec.CommandContext(within(t, patience), "sh", "-ec", here.Replace(block[1]))
		shell.Env = append(shell.Environ(), "TIMERBUS_URL="+w.URL(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		if output, err := shell.CombinedOutput(); err != nil || strings.Contains(string(output), `"error"`) {
			t.Errorf("%s%v\n%s", block[1], err, output)
		}
	}
	return ran
}
