package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/timerbus/timerbus/pkg/store"
)

// The codes of PostgreSQL that mean something here (appendix A of its manual).
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

	classData       = "22" // a value that the column cannot hold
	classConstraint = "23"
)

// code returns the server's code for an error; empty if the server did not tell of it.
func code(err error) string {
	var told *pgconn.PgError
	if !errors.As(err, &told) {
		return ""
	}
	return told.Code
}

// again reports whether the same transaction may succeed if it runs anew: it met others and had to give way.
func again(err error) bool {
	switch code(err) {
	case serializationFailure, deadlockDetected, uniqueViolation, lockNotAvailable:
		return true
	default:
		return false
	}
}

// aborted reports whether the server has said that the transaction did not happen. A FATAL or PANIC ends
// the connection wherever it was, perhaps just behind a commit.
func aborted(err error) bool {
	var told *pgconn.PgError
	return errors.As(err, &told) && told.SeverityUnlocalized == "ERROR"
}

// failed translates an error of the driver. maybe says that a commit was on its way when it came.
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

// halfDone is the error of a batch whose first statement stands and whose rest failed. The cause is told and not
// wrapped: of itself it may say that nothing was applied.
func halfDone(err error) error {
	if errors.Is(err, store.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: a part of the batch was written: %s", store.ErrOutcomeUnknown, err.Error())
}
