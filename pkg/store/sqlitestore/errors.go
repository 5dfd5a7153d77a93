package sqlitestore

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/timerbus/timerbus/pkg/store"
)

// errLocked says that another process holds the lock file.
var errLocked = errors.New("locked by another process")

// code returns SQLite's extended result code; 0 for errors that are not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

// primary returns SQLite's result code without its extension.
func primary(err error) int {
	return code(err) & 0xff
}

// failed translates a driver's error after which nothing is applied.
func failed(err error) error {
	switch primary(err) {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH:
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, store.ErrFull, err)
	default:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
}

// noRoom reports whether a write failed because the disk has no room for it, or a quota none for this user: the latter is
// an error in writing to SQLite.
func noRoom(err error) bool {
	return primary(err) == sqlite3.SQLITE_FULL || code(err) == sqlite3.SQLITE_IOERR_WRITE
}

// notCommitted reports whether a COMMIT that failed like this has certainly left nothing behind.
//
// The frame that makes a transaction valid is the last one written to the log, and the log is synced
// after it. So a write that failed, for lack of room or otherwise, happened before the transaction was
// valid. A sync that failed happened after: the transaction may come to life when the log is read
// after a crash, unless the next commit overwrites it first.
func notCommitted(err error) bool {
	return noRoom(err) || primary(err) == sqlite3.SQLITE_BUSY
}
