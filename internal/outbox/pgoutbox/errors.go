package pgoutbox

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/timerbus/timerbus/internal/outbox"
)

// describe wraps an error of an operation with its reason; nil stays nil.
func describe(operation string, err error) error {
	if err == nil {
		return nil
	}
	return &outbox.Error{Reason: reason(err), Err: fmt.Errorf("outbox: %s: %w", operation, err)}
}

func reason(err error) string {
	answer, answered := errors.AsType[*pgconn.PgError](err)
	_, unscanned := errors.AsType[pgx.ScanArgError](err)
	_, unparsed := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // only timerbus_outbox_reader must have a row
		return outbox.ReasonMissing
	case unscanned, unparsed: // a column has another type or content
		return outbox.ReasonColumns
	case !answered:
		return outbox.ReasonAway
	}
	switch answer.Code {
	case "42P01", "3F000", "3D000": // undefined_table, invalid_schema_name, invalid_catalog_name
		return outbox.ReasonMissing
	case "42703": // undefined_column
		return outbox.ReasonColumns
	case "42501", "28P01", "28000": // insufficient_privilege, invalid_password, invalid_authorization_specification
		return outbox.ReasonDenied
	case "25006": // read_only_sql_transaction
		return outbox.ReasonReadOnly
	case "55P03", "40P01": // lock_not_available, deadlock_detected
		return outbox.ReasonLocked
	case "53100": // disk_full
		return outbox.ReasonFull
	}
	switch answer.Code[:2] {
	case "08", "57", "53": // connection exception, operator intervention, insufficient resources
		return outbox.ReasonAway
	}
	return outbox.ReasonFailed
}
