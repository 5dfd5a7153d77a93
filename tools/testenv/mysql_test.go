//go:build unix

package main

import (
	"archive/zip"
	"bufio"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMirrorOfDebian(t *testing.T) {
	for text, want := range map[string]string{
		"Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\n":                                         "http://mirror.test/debian",
		"Types: deb\nURIs: http://mirror.test/debian-security\n":                                                  "",
		"# deb http://old.test/debian sid main\ndeb [arch=amd64 trusted=yes] http://mirror.test/debian/ sid main": "http://mirror.test/debian/",
		"deb-src http://mirror.test/debian sid main\n":                                                            "",
		"deb http://other.test/apt sid main\n":                                                                    "",
	} {
		if got := mirrorIn(bufio.NewScanner(strings.NewReader(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

//nolint:dupword // it is the output of apt-cache
func TestPackagesOf(t *testing.T) {
	const tree = `mysql-server-core
  Depends: libaio1t64
  Depends: libc6
libaio1t64
  Depends: libc6
libc6
  Depends: <libc-virtual>
    libc6-other
<libc-virtual>
`
	if got := packagesOf(tree); !slices.Equal(got, []string{"libaio1t64", "libc6", "mysql-server-core"}) {
		t.Errorf("%q", got)
	}
}

func TestUnpackBelow(t *testing.T) {
	folder := t.TempDir()
	archive := func(names ...string) string {
		path := filepath.Join(folder, "x.jar")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		out := zip.NewWriter(file)
		for _, name := range names {
			w, err := out.Create(name)
			if err == nil {
				_, err = w.Write([]byte("x"))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	n, err := unpackBelow(archive("META-INF/x", "a/linux/bin/server", "a/linux/share/sys"), "/linux/", filepath.Join(folder, "server"))
	info, missing := os.Stat(filepath.Join(folder, "server", "bin", "server"))
	if n != 2 || err != nil || missing != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("%d files, %v; %v, %v", n, err, info, missing)
	}
	if _, err := unpackBelow(archive("a/linux/../../../evil"), "/linux/", filepath.Join(folder, "server")); err == nil {
		t.Error("a path outside the folder was unpacked")
	}
}

// TestMySQLReady: a server that refuses connections sends an error packet, whose first byte is 255.
func TestMySQLReady(t *testing.T) {
	for packet, want := range map[string]bool{
		"\x4a\x00\x00\x00\x0a9.7.4": true, "\x17\x00\x00\x01\xff\x10\x04Too many": false, "\x01\x00": false,
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if conn, err := listener.Accept(); err == nil {
				_, _ = conn.Write([]byte(packet))
				_ = conn.Close()
			}
		}()
		if err := mysqlReady(t.Context(), listener.Addr().String()); (err == nil) != want {
			t.Errorf("%q: %v", packet, err)
		}
		_ = listener.Close()
	}
}
