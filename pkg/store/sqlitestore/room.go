package sqlitestore

import "context"

// roomBytes is what findRoom writes: about as much as ten of the largest timers.
const roomBytes = 1 << 20

const (
	fillRoom  = "INSERT INTO room (filler) VALUES (zeroblob(?))"
	emptyRoom = "DELETE FROM room"
)

// findRoom reports, after a write has failed for lack of room, whether there is room again: it tries. The
// commit of a small write proves nothing, because it may fit where a timer does not.
func (s *Store) findRoom(ctx context.Context) error {
	if !s.writer.full.Load() {
		return nil
	}
	for _, step := range []struct {
		statement string
		args      []any
	}{{fillRoom, []any{int64(roomBytes)}}, {emptyRoom, nil}} {
		err := s.write(ctx, "look for room", 1, roomBytes, func(c *conn) error {
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
