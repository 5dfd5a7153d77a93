// Command binarypackages writes the packages that contain the program: a wheel and an npm package for each platform, and the npm package
// that depends on those. Their sources are sdk/python/server and sdk/typescript/server. The output depends on the input only, so that two
// builds of one commit are equal.
//
//	binarypackages VERSION SDK-FOLDER OUTPUT OS/ARCH=BINARY…
//
// The platforms are those of GOOS and GOARCH. It imports no package of the product. Read main.go, then wheel.go and npm.go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/timerbus/timerbus/tools/internal/program"
)

func main() { os.Exit(program.Run("binarypackages", run)) }

// platform is a platform of releases. The program is static, so it does not depend on a C library.
type platform struct {
	goos, goarch string
	wheel        []string // the platform tags of its wheel, sorted; Go needs macOS 12
	os, cpu      string   // of npm
}

var platforms = []platform{
	{"linux", "amd64", []string{"manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"}, "linux", "x64"},
	{"linux", "arm64", []string{"manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"}, "linux", "arm64"},
	{"darwin", "amd64", []string{"macosx_12_0_x86_64"}, "darwin", "x64"},
	{"darwin", "arm64", []string{"macosx_12_0_arm64"}, "darwin", "arm64"},
}

// file is a file of a package.
type file struct {
	name       string
	content    []byte
	executable bool
}

// source is where the files of packages come from.
type source struct {
	version string
	sdk     string
	license []byte
}

var release = regexp.MustCompile(`^\d+\.\d+\.\d+(?:-(alpha|beta|rc)\.(\d+))?$`)

func run(_ context.Context, out io.Writer, args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("arguments %q are not accepted: want VERSION SDK-FOLDER OUTPUT OS/ARCH=BINARY…", args)
	}
	s, output := source{version: args[0], sdk: args[1]}, args[2]
	if !release.MatchString(s.version) {
		return fmt.Errorf("version %q is not accepted: want one such as 0.2.0 or 0.2.0-rc.1", s.version)
	}
	var err error
	if s.license, err = os.ReadFile(filepath.Join(s.sdk, "..", "LICENSE")); err != nil {
		return err
	}
	packages := map[string][]byte{}
	name, content, err := s.npm()
	if err != nil {
		return err
	}
	packages[name] = content
	for _, arg := range args[3:] {
		target, binary, _ := strings.Cut(arg, "=")
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.goos+"/"+p.goarch == target })
		if i < 0 {
			return fmt.Errorf("platform %q is not accepted: want linux or darwin, with amd64 or arm64, such as linux/amd64", target)
		}
		executable, err := os.ReadFile(binary)
		if err != nil {
			return err
		}
		for _, build := range []func(*platform, []byte) (string, []byte, error){s.wheel, s.npmPlatform} {
			name, content, err := build(&platforms[i], executable)
			if err != nil {
				return fmt.Errorf("%s: %w", target, err)
			}
			packages[name] = content
		}
	}
	return write(out, output, packages)
}

func write(out io.Writer, folder string, packages map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // it contains public packages.
		return err
	}
	for name, content := range packages {
		// Builds of several platforms at the same time write the same package of npm.
		temporary, err := os.CreateTemp(folder, "."+name+"-*")
		if err != nil {
			return err
		}
		_, err = temporary.Write(content)
		if closed := temporary.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = os.Chmod(temporary.Name(), 0o644) //nolint:gosec // it is a public package.
		}
		if err == nil {
			err = os.Rename(temporary.Name(), filepath.Join(folder, name))
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, filepath.Join(folder, name))
	}
	return nil
}

// read returns files of a folder of the SDK.
func (s *source) read(folder string, names ...string) ([]file, error) {
	var files []file
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(s.sdk, filepath.FromSlash(folder), filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, content: content})
	}
	return files, nil
}
