package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRoot(t *testing.T) {
	root := built(t)
	files := map[string]*tar.Header{}
	contents := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(root)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name] != nil {
			t.Errorf("%s is written twice", h.Name)
		}
		if !h.ModTime.Equal(time.Unix(1767225600, 0)) {
			t.Errorf("%s is of %s", h.Name, h.ModTime)
		}
		if parent := filepath.Dir(strings.TrimSuffix(h.Name, "/")); parent != "." && files[parent+"/"] == nil {
			t.Errorf("%s comes before its folder", h.Name)
		}
		files[h.Name] = h
		if contents[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct {
		mode  int64
		owner int
	}{
		"data/": {0o755, user}, "tmp/": {0o1777, 0}, "etc/": {0o755, 0}, "etc/passwd": {0o644, 0},
	} {
		if h := files[name]; h == nil || h.Mode != want.mode || h.Uid != want.owner || h.Gid != want.owner {
			t.Errorf("%s is %+v, want mode %o and owner %d", name, h, want.mode, want.owner)
		}
	}
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(contents["etc/ssl/certs/ca-certificates.crt"]) {
		t.Error("the file of certificates has none")
	}
	if n := bytes.Count(contents["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")); n < 100 {
		t.Errorf("there are %d root certificates, want Mozilla's, more than 100", n)
	}
	zone, err := time.LoadLocationFromTZData("Europe/Zurich", contents["usr/share/zoneinfo/Europe/Zurich"])
	if err != nil {
		t.Fatal(err)
	}
	if name, offset := time.Date(2026, 7, 1, 0, 0, 0, 0, zone).Zone(); name != "CEST" || offset != 7200 {
		t.Errorf("Europe/Zurich is %s (%d s) in summer", name, offset)
	}
	if !bytes.Equal(root, built(t)) {
		t.Error("the second tar differs from the first")
	}
}

// built returns the tar that the program writes.
func built(t *testing.T) []byte {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	name := filepath.Join(t.TempDir(), "rootfs.tar")
	if err := run(t.Context(), io.Discard, []string{name}); err != nil {
		t.Fatal(err)
	}
	root, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestRefusals(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if err := run(t.Context(), io.Discard, []string{"x"}); err == nil || !strings.Contains(err.Error(), `SOURCE_DATE_EPOCH: "yesterday" is not accepted`) {
		t.Errorf("a wrong epoch: %v", err)
	}
	if err := run(t.Context(), io.Discard, nil); err == nil || !strings.Contains(err.Error(), "want the name of the tar") {
		t.Errorf("without a name: %v", err)
	}
}
