package mysqlstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// server has the properties of a server that a start checks.
type server struct {
	version           string
	maxPacket         int
	flush, syncBinlog int
	binlog, readOnly  bool
}

const selectServer = `SELECT @@version, @@max_allowed_packet, @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog, @@read_only`

const (
	// leastPacket is enough for several timers with the largest payload.
	leastPacket = 4 << 20
	orAllow     = "set it to 1, or allow it (?" + unsafeParameter + "=true)"
)

// release returns the server's name, its version, and the oldest one that is supported.
func (s *server) release() (name string, version, oldest [3]int) {
	name, oldest = "MySQL", [3]int{8, 0, 1}
	if strings.Contains(s.version, "MariaDB") {
		name, oldest = "MariaDB", [3]int{10, 6, 0}
	}
	text, _, _ := strings.Cut(s.version, "-")
	for i, part := range strings.SplitN(text, ".", 3) {
		version[i], _ = strconv.Atoi(part)
	}
	return name, version, oldest
}

// refuse returns why timers would not be safe on a server, or could not be written, or nil.
func (s *server) refuse(allowUnsafe bool) error {
	name, version, oldest := s.release()
	for i := range version {
		if version[i] < oldest[i] {
			return fmt.Errorf("the server is %s %s: want %d.%d.%d or newer", name, s.version, oldest[0], oldest[1], oldest[2])
		}
		if version[i] > oldest[i] {
			break
		}
	}
	switch {
	case s.readOnly:
		return errors.New("the server is read-only (a replica, or read_only): connect to the primary")
	case s.maxPacket < leastPacket:
		return fmt.Errorf("max_allowed_packet is %d bytes: set it to at least %d", s.maxPacket, leastPacket)
	case s.flush != 1 && !allowUnsafe:
		return fmt.Errorf("innodb_flush_log_at_trx_commit is %d, so a power failure would lose acknowledged timers: %s", s.flush, orAllow)
	default:
		return nil
	}
}

// check returns an error if the server cannot be used or would lose timers, and logs warnings if it may.
func (s *Store) check(ctx context.Context, allowUnsafe bool) error {
	var there server
	err := s.main.QueryRowContext(ctx, selectServer).
		Scan(&there.version, &there.maxPacket, &there.flush, &there.binlog, &there.syncBinlog, &there.readOnly)
	if err != nil {
		return err
	}
	if err := there.refuse(allowUnsafe); err != nil {
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
	if there.binlog && there.syncBinlog != 1 {
		s.log.WarnContext(ctx, "acknowledged timers can be lost",
			"why", fmt.Sprintf("sync_binlog is %d: after a crash of the server, replicas may lack the last timers", there.syncBinlog))
	}
	return nil
}
