// Package zone has the time zone database of this release. All processes of a release compute the same instants, whatever database their
// machine has.
package zone

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	_ "embed" // zoneinfo.zip.gz
	"fmt"
	"io"
	"sync"
	"time"
)

// Version is the version of the IANA time zone database.
const Version = "2025c"

// database is lib/time/zoneinfo.zip of a Go release, compressed. `make zones` writes it, and Version must then be changed.
//
//go:embed zoneinfo.zip.gz
var database []byte

var zones = sync.OnceValues(func() (map[string]*zip.File, error) {
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("time zone database: %w", err)
	}
	all := make(map[string]*zip.File, len(r.File))
	for _, f := range r.File {
		if !f.FileInfo().IsDir() {
			all[f.Name] = f
		}
	}
	return all, nil
})

func open() (*zip.Reader, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(database))
	if err != nil {
		return nil, err
	}
	archive, err := io.ReadAll(compressed)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
}

var loaded sync.Map // names to *time.Location; at most one for each zone of the database

// Load returns the zone with an IANA name, such as Europe/Berlin.
func Load(name string) (*time.Location, error) {
	if known, ok := loaded.Load(name); ok {
		return known.(*time.Location), nil //nolint:errcheck,forcetypeassert // only this function stores
	}
	all, err := zones()
	if err != nil {
		return nil, err
	}
	f := all[name]
	if f == nil {
		return nil, fmt.Errorf("there is no time zone %q in version %s of the IANA database", name, Version)
	}
	data, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	location, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	loaded.Store(name, location)
	return location, nil
}

func read(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if closed := r.Close(); err == nil {
		err = closed
	}
	return data, err
}

// Names returns the names of all zones.
func Names() ([]string, error) {
	all, err := zones()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	return names, err
}
