package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sdk = "../../sdk"

// binary is a stand-in for the program.
var binary = []byte("#!/bin/sh\necho timerbus\n")

// build writes the packages of all platforms, and returns the names of the files with their contents.
func build(t *testing.T, version string) map[string][]byte {
	t.Helper()
	folder := t.TempDir()
	executable := filepath.Join(folder, "timerbus")
	if err := os.WriteFile(executable, binary, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{version, sdk, filepath.Join(folder, "packages")}
	for _, p := range platforms {
		args = append(args, p.goos+"/"+p.goarch+"="+executable)
	}
	if err := run(t.Context(), io.Discard, args); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(args[2])
	if err != nil {
		t.Fatal(err)
	}
	built := map[string][]byte{}
	for _, e := range entries {
		if built[e.Name()], err = os.ReadFile(filepath.Join(args[2], e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return built
}

func TestPackagesOfEachPlatform(t *testing.T) {
	built := build(t, "0.2.0-rc.1")
	var names []string
	for name := range built {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"timerbus-server-0.2.0-rc.1.tgz",
		"timerbus-server-darwin-arm64-0.2.0-rc.1.tgz",
		"timerbus-server-darwin-x64-0.2.0-rc.1.tgz",
		"timerbus-server-linux-arm64-0.2.0-rc.1.tgz",
		"timerbus-server-linux-x64-0.2.0-rc.1.tgz",
		"timerbus_server-0.2.0rc1-py3-none-macosx_12_0_arm64.whl",
		"timerbus_server-0.2.0rc1-py3-none-macosx_12_0_x86_64.whl",
		"timerbus_server-0.2.0rc1-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl",
		"timerbus_server-0.2.0rc1-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the packages are\n%q, want\n%q", names, want)
	}
	for name, content := range build(t, "0.2.0-rc.1") {
		if !bytes.Equal(content, built[name]) {
			t.Errorf("a second build of %s differs", name)
		}
	}
}

// TestWheel: pip refuses a wheel whose record or tags are wrong.
func TestWheel(t *testing.T) {
	for name, content := range build(t, "1.2.3") {
		if !strings.HasSuffix(name, ".whl") {
			continue
		}
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		var record []string
		for _, f := range archive.File {
			part, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(part)
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = string(raw)
			line := f.Name + ",,"
			if !strings.HasSuffix(f.Name, "/RECORD") {
				sum := sha256.Sum256(raw)
				line = fmt.Sprintf("%s,sha256=%s,%d", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(raw))
			}
			record = append(record, line)
			if executable := f.Mode()&0o111 != 0; executable != strings.HasSuffix(f.Name, "/scripts/timerbus") {
				t.Errorf("%s: %s has the mode %v", name, f.Name, f.Mode())
			}
		}
		info := "timerbus_server-1.2.3.dist-info/"
		if got, want := files[info+"RECORD"], strings.Join(record, "\n")+"\n"; got != want {
			t.Errorf("%s: the record is\n%s, want\n%s", name, got, want)
		}
		if files["timerbus_server-1.2.3.data/scripts/timerbus"] != string(binary) || files["timerbus_server/__init__.py"] == "" {
			t.Errorf("%s has only %q", name, record)
		}
		tags := strings.TrimSuffix(strings.TrimPrefix(name, "timerbus_server-1.2.3-py3-none-"), ".whl")
		for tag := range strings.SplitSeq(tags, ".") {
			if !strings.Contains(files[info+"WHEEL"], "\nTag: py3-none-"+tag+"\n") {
				t.Errorf("%s: WHEEL is\n%s, want the tag %s", name, files[info+"WHEEL"], tag)
			}
		}
		if !strings.Contains(files[info+"METADATA"], "\nName: timerbus-server\nVersion: 1.2.3\n") {
			t.Errorf("%s: METADATA is\n%s", name, files[info+"METADATA"])
		}
	}
}

// unpacked returns the files of a package of npm, and its manifest. Only bin/timerbus may be executable: npm makes the files of bin
// executable itself.
func unpacked(t *testing.T, content []byte) (map[string]string, manifest) {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(compressed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(raw)
		if executable := header.Mode&0o111 != 0; executable != (header.Name == "package/bin/timerbus") {
			t.Errorf("%s has the mode %o", header.Name, header.Mode)
		}
	}
	var m manifest
	if err := json.Unmarshal([]byte(files["package/package.json"]), &m); err != nil {
		t.Fatal(err)
	}
	return files, m
}

// TestNPM: npm installs the optional dependency whose os and cpu are those of the machine, so index.cjs finds it by these names.
func TestNPM(t *testing.T) {
	built := build(t, "1.2.3")
	files, m := unpacked(t, built["timerbus-server-1.2.3.tgz"])
	for _, name := range []string{m.Main, m.Types, m.Bin["timerbus"]} {
		if files["package/"+name] == "" {
			t.Errorf("package.json refers to %q, which is absent", name)
		}
	}
	if len(m.OptionalDependencies) != len(platforms) {
		t.Errorf("the optional dependencies are %v, want one for each of %d platforms", m.OptionalDependencies, len(platforms))
	}
	for name, version := range m.OptionalDependencies {
		file := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
		files, of := unpacked(t, built[file])
		if of.Name != name || of.Version != version || len(of.OS) != 1 || len(of.CPU) != 1 || name != "@timerbus/server-"+of.OS[0]+"-"+of.CPU[0] {
			t.Errorf("%s has the manifest %+v, want the name %s with its os and cpu", file, of, name)
		}
		if files["package/bin/timerbus"] != string(binary) {
			t.Errorf("%s does not contain the program", file)
		}
	}
}

func TestOtherArgumentsAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"want VERSION SDK-FOLDER OUTPUT":       {"1.0.0", sdk, "out"},
		`version "v1" is not accepted`:         {"v1", sdk, "out", "linux/amd64=main.go"},
		`platform "linux/386" is not accepted`: {"1.0.0", sdk, "out", "linux/386=main.go"},
		"no such file":                         {"1.0.0", sdk, "out", "linux/amd64=missing"},
	} {
		if err := run(t.Context(), io.Discard, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", args, err, want)
		}
	}
}
