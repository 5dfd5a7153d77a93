package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
)

const scope = "@timerbus/"

// manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Repository           map[string]string `json:"repository"`
	Engines              map[string]string `json:"engines,omitempty"`
	Main                 string            `json:"main,omitempty"`
	Types                string            `json:"types,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	// PreferUnplugged makes Yarn extract the package, because the system cannot execute a file of an archive.
	PreferUnplugged bool `json:"preferUnplugged,omitempty"`
}

func (s *source) manifest(name, description string) manifest {
	return manifest{
		Name: scope + name, Version: s.version, Description: description, License: "Apache-2.0",
		Repository: map[string]string{"type": "git", "url": "git+https://github.com/timerbus/timerbus.git"},
	}
}

func (p *platform) npmName() string { return "server-" + p.os + "-" + p.cpu }

// npm returns the package that programs depend on. Its optional dependencies are the packages of all platforms: npm installs only
// the one whose os and cpu are those of the machine.
func (s *source) npm() (name string, content []byte, err error) {
	m := s.manifest("server", "The program of Timerbus, a durable timer service")
	m.Engines = map[string]string{"node": ">=20"}
	m.Main, m.Types, m.Bin = "index.cjs", "index.d.cts", map[string]string{"timerbus": "timerbus.cjs"}
	m.OptionalDependencies = map[string]string{}
	for i := range platforms {
		m.OptionalDependencies[scope+platforms[i].npmName()] = s.version
	}
	files, err := s.read("typescript/server", "index.cjs", "index.d.cts", "timerbus.cjs", "README.md")
	if err != nil {
		return "", nil, err
	}
	content, err = s.packed(&m, files)
	return "timerbus-server-" + s.version + ".tgz", content, err
}

// npmPlatform returns the package of a platform.
func (s *source) npmPlatform(p *platform, binary []byte) (name string, content []byte, err error) {
	m := s.manifest(p.npmName(), "The program of Timerbus for "+p.os+" on "+p.cpu)
	m.OS, m.CPU, m.PreferUnplugged = []string{p.os}, []string{p.cpu}, true
	content, err = s.packed(&m, []file{{name: "bin/timerbus", content: binary, executable: true}})
	return "timerbus-" + p.npmName() + "-" + s.version + ".tgz", content, err
}

func (s *source) packed(m *manifest, files []file) ([]byte, error) {
	description, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	files = append(files, file{name: "package.json", content: append(description, '\n')}, file{name: "LICENSE", content: s.license})
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Name: "package/" + f.name, Mode: 0o644, Size: int64(len(f.content)), ModTime: epoch, Format: tar.FormatUSTAR}
		if f.executable {
			header.Mode = 0o755
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return archive.Bytes(), err
}
