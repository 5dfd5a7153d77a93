package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes the machine of a measurement.
type Machine struct {
	Processors int     `json:"processors"`
	Model      string  `json:"model"`
	MemoryGiB  float64 `json:"memoryGiB"`
	System     string  `json:"system"`
	Go         string  `json:"go"`
}

func (m Machine) String() string {
	return fmt.Sprintf("%d processors (%s), %.0f GiB, %s, %s", m.Processors, m.Model, m.MemoryGiB, m.System, m.Go)
}

// ThisMachine describes this machine from /proc.
func ThisMachine() (Machine, error) {
	m := Machine{Processors: runtime.NumCPU(), Go: runtime.Version(), System: runtime.GOOS, Model: runtime.GOARCH}
	if runtime.GOOS != "linux" {
		return m, nil
	}
	var files [3]string
	for i, name := range []string{"/proc/cpuinfo", "/proc/meminfo", "/proc/sys/kernel/osrelease"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return m, fmt.Errorf("describe the machine: %w", err)
		}
		files[i] = string(text)
	}
	if model := lineOf(files[0], "model name"); model != "" {
		m.Model = model
	}
	kib, err := strconv.ParseFloat(strings.TrimSuffix(lineOf(files[1], "MemTotal"), " kB"), 64)
	if err != nil {
		return m, fmt.Errorf("describe the machine: %w", err)
	}
	m.MemoryGiB = kib / (1 << 20)
	m.System = "Linux " + strings.TrimSpace(files[2])
	return m, nil
}

// lineOf returns the value of a line "name : value".
func lineOf(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// VersionOf returns the version of a timerbus binary.
func VersionOf(ctx context.Context, binary string) (string, error) {
	var b struct {
		Version string `json:"version"`
	}
	output, err := exec.CommandContext(ctx, binary, "version", "--json").Output()
	if err == nil {
		err = json.Unmarshal(output, &b)
	}
	if err != nil {
		return "", fmt.Errorf("%s version --json: %w", binary, err)
	}
	return b.Version, nil
}
