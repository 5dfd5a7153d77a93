package mysqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/timerbus/timerbus/pkg/store"
)

// The error numbers of MySQL and MariaDB that this package uses.
const (
	diskFull         = 1021
	cannotWrite      = 1026
	recordChanged    = 1020 // MariaDB: the row has changed since the snapshot
	accessDenied     = 1045
	noDatabase       = 1049
	duplicateKey     = 1062
	tableFull        = 1114
	noTable          = 1146
	packetTooLarge   = 1153
	unknownVariable  = 1193
	lockWaitTimeout  = 1205
	deadlock         = 1213
	outOfRange       = 1264
	wrongValue       = 1366
	dataTooLong      = 1406
	errorAtCommit    = 1180
	noRightsDatabase = 1044
)

// number returns the server's error number, or 0 if the error was not reported by the server.
func number(err error) uint16 {
	var told *mysql.MySQLError
	if !errors.As(err, &told) {
		return 0
	}
	return told.Number
}

// again reports whether the same transaction may succeed if it runs again: it failed because of concurrent transactions.
func again(err error) bool {
	switch number(err) {
	case deadlock, lockWaitTimeout, duplicateKey, recordChanged:
		return true
	default:
		return false
	}
}

// refusedCommit reports whether the server has reported that a COMMIT did not happen.
func refusedCommit(err error) bool {
	switch number(err) {
	case errorAtCommit, diskFull, tableFull, cannotWrite:
		return true
	default:
		return again(err)
	}
}

// failed translates an error of the driver. maybe is set if the write may have been committed.
func failed(ctx context.Context, err error, maybe bool) error {
	sentinel := store.ErrUnavailable
	switch n := number(err); {
	case maybe:
		sentinel = store.ErrOutcomeUnknown
	case n == packetTooLarge, n == outOfRange, n == wrongValue, n == dataTooLong:
		sentinel = store.ErrInvalid
	case n == diskFull, n == tableFull, n == cannotWrite:
		err = fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w: %w", sentinel, ended, err)
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
