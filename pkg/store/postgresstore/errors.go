package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/timerbus/timerbus/pkg/store"
)

// The error codes of PostgreSQL that this package uses (appendix A of PostgreSQL's manual).
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505"
	undefinedTable       = "42P01"
	insufficientRights   = "42501"
	wrongPassword        = "28P01"
	notAuthorized        = "28000"
	noDatabase           = "3D000"
	protocolViolation    = "08P01"
	lockNotAvailable     = "55P03"
	checkViolation       = "23514"
	duplicateTable       = "42P07"
	overlappingPartition = "42P17"
	queryCanceled        = "57014"
	diskFull             = "53100"
	invalidParameter     = "22023"

	classData       = "22" // a value that the column cannot store
	classConstraint = "23"
)

// code returns the server's error code, or "" if the error was not reported by the server.
func code(err error) string {
	var told *pgconn.PgError
	if !errors.As(err, &told) {
		return ""
	}
	return told.Code
}

// again reports whether the same transaction may succeed if it runs again: it failed because of concurrent
// transactions.
func again(err error) bool {
	switch code(err) {
	case serializationFailure, deadlockDetected, uniqueViolation, lockNotAvailable:
		return true
	default:
		return false
	}
}

// aborted reports whether the server has reported that the transaction was not committed. FATAL and PANIC do not count:
// they end the connection at any time, perhaps just after a commit.
func aborted(err error) bool {
	var told *pgconn.PgError
	return errors.As(err, &told) && told.SeverityUnlocalized == "ERROR"
}

// failed translates an error of the driver. maybe is set if a commit may have been sent.
func failed(ctx context.Context, err error, maybe bool) error {
	var unsent *notSentError
	sentinel := store.ErrUnavailable
	switch {
	case maybe && !aborted(err) && !errors.As(err, &unsent) && !pgconn.SafeToRetry(err):
		sentinel = store.ErrOutcomeUnknown
	case aborted(err) && (strings.HasPrefix(code(err), classData) || strings.HasPrefix(code(err), classConstraint)):
		sentinel = store.ErrInvalid
	case aborted(err) && code(err) == diskFull:
		err = fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w: %w", sentinel, ended, err)
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// halfDone is the error of a batch whose first statement was committed and whose second one failed. It quotes the cause
// and does not wrap it, because the cause may be an error that means that nothing was applied.
func halfDone(err error) error {
	if errors.Is(err, store.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: a part of the batch was written: %s", store.ErrOutcomeUnknown, err.Error())
}
