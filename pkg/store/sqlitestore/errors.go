package sqlitestore

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/timerbus/timerbus/pkg/store"
)

// errLocked: another process has locked the lock file.
var errLocked = errors.New("locked by another process")

// code returns SQLite's extended result code, or 0 if the error is not SQLite's.
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

// failed translates an error of the driver. The caller ensures that nothing was applied.
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

// noRoom reports whether a write failed because the disk is full or the user's quota is used up. SQLite reports a
// used-up quota as a write error.
func noRoom(err error) bool {
	return primary(err) == sqlite3.SQLITE_FULL || code(err) == sqlite3.SQLITE_IOERR_WRITE
}

// notCommitted reports whether a COMMIT that failed with this error has certainly not committed anything.
//
// The frame that makes a transaction valid is the last one that SQLite writes to the log, and SQLite syncs the log
// after it. So if a write failed, because the disk is full or for another reason, the transaction is not valid. If a
// sync failed, the transaction may become valid when the log is recovered after a crash, unless the next commit
// overwrites it first.
func notCommitted(err error) bool {
	return noRoom(err) || primary(err) == sqlite3.SQLITE_BUSY
}
