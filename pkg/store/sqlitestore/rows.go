package sqlitestore

import (
	"database/sql"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/timer"
)

// timerColumns are the columns of a live row, and endColumns those of a history row.
var (
	timerColumns = dialect.LiveColumns("")
	endColumns   = dialect.EndColumns("")

	selectLive = "SELECT " + timerColumns + " FROM timers WHERE shard = ? AND uuid = ?"

	// selectEnd reads the last final outcome of a timer. It sorts the history of that timer only.
	selectEnd = "SELECT " + endColumns + ` FROM history
WHERE shard = ? AND uuid = ? AND ` + relational.IsEnd + ` AND expires_at > ?
ORDER BY finished_at DESC, attempt DESC, generation DESC LIMIT 1`
)

// timer reads the first row of a query that selects timerColumns or endColumns.
func (c *conn) timer(query string, args ...any) (t timer.Timer, found bool, err error) {
	return c.timerWith(nil, query, args...)
}

// timerWith also reads into dest the columns that the query selects before these columns.
func (c *conn) timerWith(dest []any, query string, args ...any) (t timer.Timer, found bool, err error) {
	err = c.each(func(rows *sql.Rows) error {
		found = true
		if t, _, err = c.row(rows).Timer(dest...); err != nil {
			return err
		}
		return errStop
	}, query, args...)
	return t, found, err
}
