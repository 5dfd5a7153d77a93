package mysqloutbox

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/timerbus/timerbus/internal/outbox"
)

const unknownVariable = 1193

// number is the server's error number; 0 if err is not the server's.
func number(err error) uint16 {
	answer, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return 0
	}
	return answer.Number
}

// describe wraps an error of an operation with its reason; nil stays nil.
func describe(operation string, err error) error {
	if err == nil {
		return nil
	}
	return &outbox.Error{Reason: reason(err), Err: fmt.Errorf("outbox: %s: %w", operation, err)}
}

func reason(err error) string {
	_, unparsed := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, sql.ErrNoRows): // only timerbus_outbox_reader must have a row
		return outbox.ReasonMissing
	// A column has another type or content. database/sql has no type for the error of a Scan.
	case unparsed, strings.HasPrefix(err.Error(), "sql: Scan error"):
		return outbox.ReasonColumns
	}
	switch number(err) {
	case 0, 1040, 1053, 1317, 3024: // too many connections, shutdown, interrupted, statement time
		return outbox.ReasonAway
	case 1146, 1049: // no such table, bad database
		return outbox.ReasonMissing
	case 1054: // bad field
		return outbox.ReasonColumns
	case 1044, 1045, 1142, 1143, 1698, 3159: // access denied to database, user, table, column; without password; TLS required
		return outbox.ReasonDenied
	case 1290, 1792, 1836: // read_only option, read-only transaction, read-only mode
		return outbox.ReasonReadOnly
	case 1205, 1213, 3572: // lock wait timeout, deadlock, NOWAIT
		return outbox.ReasonLocked
	case 1021, 1114: // disk full, table full
		return outbox.ReasonFull
	default:
		return outbox.ReasonFailed
	}
}
