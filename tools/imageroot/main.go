// Command imageroot writes the files of the container image, except the binary, as a tar: the root certificates of Mozilla, the
// time zones of the Go distribution, and a user without rights. Its output depends on tools/go.mod, the Go version and
// SOURCE_DATE_EPOCH only, so that two builds of one commit are equal.
//
//	SOURCE_DATE_EPOCH=1767225600 imageroot rootfs.tar
//
// It imports no package of the product.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/timerbus/timerbus/tools/internal/program"
)

// user is the id of the image's user and group, the one that distroless images call nonroot.
const user = 65532

func main() { os.Exit(program.Run("imageroot", run)) }

func run(ctx context.Context, _ io.Writer, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("arguments %q are not accepted: want the name of the tar", args)
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %q is not accepted: want the time of all files, in seconds since 1970", seconds)
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	zones, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return fmt.Errorf("read time zones: %w", err)
	}
	var root bytes.Buffer
	if err := write(&root, zones, time.Unix(epoch, 0).UTC()); err != nil {
		return err
	}
	return os.WriteFile(args[0], root.Bytes(), 0o644) //nolint:gosec // it contains public files of an image.
}

// write writes the tar. zones is the zip of the time zones.
func write(to io.Writer, zones []byte, modified time.Time) error {
	w := &writer{tar: tar.NewWriter(to), modified: modified, folders: map[string]bool{".": true}}
	// SQLite and callers of os.TempDir write to /tmp, `timerbus dev` to /data.
	w.folder("tmp", 0o1777, 0)
	w.folder("data", 0o755, user)
	w.file("etc/passwd", fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/data:/sbin/nologin\n", user, user))
	w.file("etc/group", fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user))
	w.file("etc/ssl/certs/ca-certificates.crt", certificates())
	archive, err := zip.NewReader(bytes.NewReader(zones), int64(len(zones)))
	if err != nil {
		return fmt.Errorf("read time zones: %w", err)
	}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		content, err := unpack(f)
		if err != nil {
			return fmt.Errorf("read time zone %s: %w", f.Name, err)
		}
		w.file(path.Join("usr/share/zoneinfo", f.Name), content) //nolint:gosec // the archive is that of the Go distribution.
	}
	return w.close()
}

// certificates returns the roots that can be trusted without a condition, as PEM. Mozilla trusts some others for certificates
// issued before a date only, which a file cannot express.
func certificates() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}

func unpack(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// writer writes files of root with their folders. It keeps the first error.
type writer struct {
	tar      *tar.Writer
	modified time.Time
	folders  map[string]bool
	err      error
}

func (w *writer) folder(name string, mode int64, owner int) {
	if w.folders[name] {
		return
	}
	w.folder(path.Dir(name), 0o755, 0)
	w.folders[name] = true
	w.entry(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner}, nil)
}

func (w *writer) file(name string, content []byte) {
	w.folder(path.Dir(name), 0o755, 0)
	w.entry(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))}, content)
}

func (w *writer) entry(header *tar.Header, content []byte) {
	header.ModTime, header.Format = w.modified, tar.FormatUSTAR
	if w.err == nil {
		w.err = w.tar.WriteHeader(header)
	}
	if w.err == nil {
		_, w.err = w.tar.Write(content)
	}
}

func (w *writer) close() error {
	if w.err != nil {
		return w.err
	}
	return w.tar.Close()
}
