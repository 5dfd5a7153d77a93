package store

import "fmt"

// MigrateCommand is the command that creates and upgrades a schema.
const MigrateCommand = "timerbus migrate up --store …"

// Schema is the state of a database's schema for this program. Engines whose schema is upgraded by a command have one.
type Schema struct {
	// Version is the database's schema version; 0 if it has none.
	Version int64
	// Known is the newest version that this program supports.
	Known int64
	// Oldest is the newest schema version that the oldest compatible program supports, and OldestProgram is that
	// program's version. Both are zero if there is no schema.
	Oldest        int64
	OldestProgram string
}

// Usable returns nil if this program can work with the schema. Otherwise the error says why not and what to do.
func (s Schema) Usable() error {
	switch {
	case s.Version == 0:
		return fmt.Errorf("there is no schema yet: run `%s`", MigrateCommand)
	case s.Version < s.Known:
		return fmt.Errorf("the schema is version %d and this program needs %d: run `%s` with this program, then start it again",
			s.Version, s.Known, MigrateCommand)
	case s.Version > s.Known && s.Known < s.Oldest:
		return fmt.Errorf("the schema is version %d, and this program supports only versions up to %d: use timerbus %s or newer",
			s.Version, s.Known, s.OldestProgram)
	default:
		return nil
	}
}
