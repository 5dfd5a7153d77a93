// Command uibundle writes the web UI's bundle, internal/ui/dist, from the sources in internal/ui/web. Its arguments are the two
// folders. npm downloads the packages of package-lock.json once, into .cache.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

//go:generate go run . ../../internal/ui/web ../../internal/ui/dist

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: uibundle SOURCES OUTPUT")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, sources, output string) error {
	sources, err := filepath.Abs(sources)
	if err != nil {
		return err
	}
	modules, err := install(ctx, sources)
	if err != nil {
		return err
	}
	if err := bundle(sources, modules, output); err != nil {
		return err
	}
	return licenses(modules, filepath.Join(output, "licenses.txt"))
}

// bundle writes app.js and app.css.
func bundle(sources, modules, output string) error {
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: filepath.Join(sources, "src", "main.tsx"), OutputPath: "app"},
			{InputPath: filepath.Join(sources, "src", "style.css"), OutputPath: "app"},
		},
		Bundle: true, Write: true, Outdir: output, NodePaths: []string{modules},
		Format: api.FormatESModule, Target: api.ES2022,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LineLimit: 160,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		LegalComments: api.LegalCommentsNone, // licenses.txt has the licenses
		LogLevel:      api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("bundle %s: %d errors", sources, len(result.Errors))
	}
	return nil
}

// install returns the folder node_modules with the packages of package-lock.json.
func install(ctx context.Context, sources string) (string, error) {
	hash := sha256.New()
	files := []string{"package.json", "package-lock.json"}
	texts := map[string][]byte{}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(sources, name))
		if err != nil {
			return "", err
		}
		texts[name] = text
		hash.Write(text)
	}
	root := filepath.Join(sources, "..", "..", "..")
	folder := filepath.Join(root, ".cache", "ui", "sources-"+hex.EncodeToString(hash.Sum(nil))[:16]) // as in tools/lib.sh
	modules, installed := filepath.Join(folder, "node_modules"), filepath.Join(folder, ".installed")
	switch _, err := os.Stat(installed); {
	case err == nil:
		return modules, nil
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", err
		}
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir, npm.Stdout, npm.Stderr = folder, os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return "", fmt.Errorf("install the packages of the web UI: npm ci: %w", err)
	}
	return modules, os.WriteFile(installed, nil, 0o600)
}

// licenses writes the licenses of the bundled packages, which must accompany copies.
func licenses(modules, output string) error {
	var text strings.Builder
	for _, name := range []string{"@preact/signals", "@preact/signals-core", "oauth4webapi", "preact"} {
		file := "LICENSE"
		if name == "oauth4webapi" {
			file = "LICENSE.md"
		}
		license, err := os.ReadFile(filepath.Join(modules, name, file))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s\n\n%s\n\n", name, strings.TrimSpace(string(license)))
	}
	return os.WriteFile(output, []byte(strings.TrimSpace(text.String())+"\n"), 0o644) //nolint:gosec // everyone may read it.
}
