package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and commit are set by `make build`.
var version, commit string

// buildInfo describes the binary as `timerbus version --json` prints it.
type buildInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	GoVersion string `json:"goVersion"`
}

// readBuildInfo returns what the build has set, and otherwise what the go command recorded.
func readBuildInfo() buildInfo {
	var module, revision string
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "(devel)" {
			module = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	return buildInfo{
		Version:   cmp.Or(version, module, "devel"),
		Commit:    cmp.Or(commit, revision, "unknown"),
		GoVersion: runtime.Version(),
	}
}

func (p *program) versionCommand() *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print the version, its commit and the Go version", Args: exactly()}
	asJSON := c.Flags().Bool("json", false, "print the result as JSON")
	c.RunE = func(*cobra.Command, []string) error {
		b := readBuildInfo()
		if *asJSON {
			return printJSON(p.stdout, b)
		}
		_, err := fmt.Fprintf(p.stdout, "timerbus %s (commit %s, %s)\n", b.Version, b.Commit, b.GoVersion)
		return err
	}
	return c
}
