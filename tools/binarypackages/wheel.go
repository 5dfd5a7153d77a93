package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// epoch is the time of all files. ZIP has no earlier years.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// wheel returns a wheel with the program in its scripts, which pip copies to the folder of the programs of an environment.
func (s *source) wheel(p *platform, binary []byte) (name string, content []byte, err error) {
	version := release.ReplaceAllStringFunc(s.version, pythonVersion)
	base := "timerbus_server-" + version
	info := base + ".dist-info/"
	files, err := s.read("python/server", "timerbus_server/__init__.py", "timerbus_server/py.typed")
	if err != nil {
		return "", nil, err
	}
	readme, err := s.read("python/server", "README.md")
	if err != nil {
		return "", nil, err
	}
	var tags strings.Builder
	for _, tag := range p.wheel {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	files = append(
		files,
		file{name: base + ".data/scripts/timerbus", content: binary, executable: true},
		file{name: info + "METADATA", content: []byte("Metadata-Version: 2.4\nName: timerbus-server\nVersion: " + version + "\n" +
			"Summary: The program of Timerbus, a durable timer service\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE\n" +
			"Requires-Python: >=3.10\nProject-URL: Source, https://github.com/timerbus/timerbus\n" +
			"Description-Content-Type: text/markdown\n\n" + string(readme[0].content))},
		file{name: info + "WHEEL", content: []byte("Wheel-Version: 1.0\nGenerator: timerbus\nRoot-Is-Purelib: false\n" + tags.String())},
		file{name: info + "licenses/LICENSE", content: s.license},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, file{name: info + "RECORD", content: []byte(record.String())})
	content, err = zipped(files)
	return base + "-py3-none-" + strings.Join(p.wheel, ".") + ".whl", content, err
}

// pythonVersion returns a version as Python writes it: 0.2.0rc1 for 0.2.0-rc.1.
func pythonVersion(version string) string {
	parts := release.FindStringSubmatch(version)
	if parts[1] == "" {
		return version
	}
	core, _, _ := strings.Cut(version, "-")
	return core + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[parts[1]] + parts[2]
}

func zipped(files []file) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(0o644)
		if f.executable {
			header.SetMode(0o755)
		}
		part, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return archive.Bytes(), err
}
