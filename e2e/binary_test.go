package e2e_test

import (
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/e2e/internal/harness"
)

// maxBinary is the size that the stripped binary must not reach.
const maxBinary = 47e6

func TestBinaryIsStaticAndSmall(t *testing.T) {
	t.Parallel()
	if harness.Race() {
		t.Skip("the race detector needs cgo, so this binary is not static")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has static binaries: elsewhere the system is called through its libraries")
	}
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC }) {
		t.Error("the binary is dynamically linked; build it with CGO_ENABLED=0")
	}
	if file.Section(".symtab") != nil || file.Section(".debug_info") != nil {
		t.Error("the binary is not stripped; build it with -ldflags '-s -w'")
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() >= maxBinary {
		t.Errorf("the binary has %d bytes, want less than %.0f", info.Size(), maxBinary)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	version := func(args ...string) []byte {
		output, err := exec.CommandContext(within(t, patience), binary, append([]string{"version"}, args...)...).Output()
		if err != nil {
			t.Fatalf("timerbus version %v: %v", args, err)
		}
		return output
	}
	var shown struct{ Version, Commit, GoVersion string }
	if err := json.Unmarshal(version("--json"), &shown); err != nil {
		t.Fatal(err)
	}
	var flags string
	for _, s := range info.Settings {
		if s.Key == "-ldflags" {
			flags = s.Value
		}
	}
	if set := fmt.Sprintf("-X main.version=%s -X main.commit=%s", shown.Version, shown.Commit); !strings.Contains(flags, set) || shown.GoVersion != info.GoVersion {
		t.Errorf("version --json prints %+v; the binary was built by %s with -ldflags '%s'", shown, info.GoVersion, flags)
	}
	if got, want := string(version()), fmt.Sprintf("timerbus %s (commit %s, %s)\n", shown.Version, shown.Commit, info.GoVersion); got != want {
		t.Errorf("version prints %q, want %q", got, want)
	}
}
