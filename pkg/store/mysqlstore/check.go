package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/internal/store/relational"
)

// server has the properties of a server that a start checks.
type server struct {
	version, sqlMode  string
	maxPacket         int
	flush, syncBinlog int
	binlog            bool
}

const selectServer = `SELECT @@version, @@sql_mode, @@max_allowed_packet, @@innodb_flush_log_at_trx_commit, @@sync_binlog, @@log_bin`

// selectForeign returns the tables whose engine has no transactions, and the columns that are not compared as bytes, for example
// after a conversion of the whole database.
const selectForeign = `SELECT concat(table_name, ' has the engine ', engine, ', not InnoDB: ALTER TABLE ', table_name, ' ENGINE = InnoDB')
FROM information_schema.tables WHERE table_schema = database() AND engine <> 'InnoDB' AND table_name IN (` + tables + `)
UNION ALL SELECT concat('the column ', table_name, '.', column_name, ' is ', column_type, ': only binary types compare ids as bytes')
FROM information_schema.columns WHERE table_schema = database() AND data_type NOT IN ('binary', 'varbinary')
	AND column_name IN ('uuid', 'namespace', 'timer_id', 'correlation_id', 'name', 'topic', 'owner') AND table_name IN (` + tables + `)`

const tables = `'timers', 'history', 'shards', 'namespaces', 'positions', 'cluster', 'namespace_lock', 'room'`

// leastPacket is enough for several timers with the largest payload. Longer batches are sent in several statements.
const leastPacket = 4 << 20

// release returns the server's name, its version, and the oldest one that is supported.
func (s *server) release() (name string, version, oldest [3]int) {
	name, oldest = "MySQL", [3]int{8, 0, 11}
	if strings.Contains(s.version, "MariaDB") {
		name, oldest = "MariaDB", [3]int{10, 6, 0}
	}
	text, _, _ := strings.Cut(s.version, "-")
	for i, part := range strings.SplitN(text, ".", 3) {
		version[i], _ = strconv.Atoi(part)
	}
	return name, version, oldest
}

// refuse returns why timers could not be written to a server, or nil.
func (s *server) refuse() error {
	name, version, oldest := s.release()
	switch {
	case slices.Compare(version[:], oldest[:]) < 0:
		return fmt.Errorf("the server is %s %s: want %d.%d.%d or newer", name, s.version, oldest[0], oldest[1], oldest[2])
	case !strings.Contains(s.sqlMode, strictMode):
		return fmt.Errorf("sql_mode of a new connection is %q, without %s, probably because of a proxy: connect to the server itself",
			s.sqlMode, strictMode)
	case s.maxPacket < leastPacket:
		return fmt.Errorf("max_allowed_packet is %d bytes: set it to at least %d", s.maxPacket, leastPacket)
	default:
		return nil
	}
}

// doubts returns warnings for a start: configurations in which acknowledged timers can be lost, but which the operator may have
// chosen.
func (s *server) doubts() (out []string) {
	if s.flush != 1 {
		out = append(out, fmt.Sprintf("innodb_flush_log_at_trx_commit is %d: a power failure loses the last timers", s.flush))
	}
	if s.binlog && s.syncBinlog != 1 {
		out = append(out, fmt.Sprintf("sync_binlog is %d: after a crash of the server, replicas may lack the last timers", s.syncBinlog))
	}
	return out
}

// check returns an error if the server cannot be used, and logs warnings if acknowledged timers can be lost.
func (s *Store) check(ctx context.Context) error {
	return s.with(ctx, s.main, func(c *conn) error {
		var there server
		err := c.each(ctx, func(rows *sql.Rows) error {
			return rows.Scan(&there.version, &there.sqlMode, &there.maxPacket, &there.flush, &there.syncBinlog, &there.binlog)
		}, selectServer)
		if err != nil {
			return err
		}
		if err := there.refuse(); err != nil {
			return err
		}
		s.maxPacket = there.maxPacket
		schema, err := schemaOf(ctx, s.main)
		if err != nil {
			return err
		}
		if err := schema.Usable(); err != nil {
			return err
		}
		var foreign string
		err = c.each(ctx, func(rows *sql.Rows) error { return errors.Join(rows.Scan(&foreign), relational.ErrStop) }, selectForeign)
		if err != nil {
			return err
		}
		if foreign != "" {
			return errors.New(foreign)
		}
		for _, doubt := range there.doubts() {
			s.log.WarnContext(ctx, "acknowledged timers can be lost", "why", doubt)
		}
		return nil
	})
}
