package sqlitestore

import "context"

// roomBytes is the size of the test write of findRoom, in bytes: about that of ten of the largest timers.
const roomBytes = 1 << 20

const (
	fillRoom  = "INSERT INTO room (filler) VALUES (zeroblob(?))"
	emptyRoom = "DELETE FROM room"
)

// findRoom checks whether the disk has space again after a write has failed because it was full. It writes roomBytes
// and deletes them again. The commit of a small write does not show that there is space, because it may fit where a
// timer does not.
func (s *Store) findRoom(ctx context.Context) error {
	if !s.writer.full.Load() {
		return nil
	}
	for _, step := range []struct {
		statement string
		args      []any
	}{{fillRoom, []any{int64(roomBytes)}}, {emptyRoom, nil}} {
		err := s.write(ctx, "check disk space", 1, roomBytes, func(c *conn) error {
			_, err := c.exec(step.statement, step.args...)
			return err
		})
		if err != nil {
			return err
		}
	}
	s.writer.full.Store(false)
	return nil
}
