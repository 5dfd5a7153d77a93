package relational

import (
	"io/fs"

	"github.com/pressly/goose/v3"
)

// NewestSchema returns the highest version of the migrations in the folder migrations.
func NewestSchema(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	newest := int64(0)
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}
