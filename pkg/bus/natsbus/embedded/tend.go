package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// tendEvery is the pause between attempts to restart the server.
	tendEvery = time.Second
	// roomNeeded is the number of bytes that must be free before an attempt, because recovery itself writes.
	roomNeeded = 4 << 20
)

// tend restarts the server after a write error, once the folder is writable again. Clients lose the connection and
// reconnect. Messages acknowledged before the error are on disk.
func (s *Server) tend(ctx context.Context) {
	for {
		select {
		case <-s.log.broken:
		case <-ctx.Done():
			return
		}
		s.log.log.Error("nats cannot write", "folder", s.config.StoreDir, "error", s.log.lastError())
		for {
			err := s.probe()
			if err == nil {
				err = s.restart(ctx)
			}
			if err == nil {
				s.log.log.Info("nats writes again", "folder", s.config.StoreDir)
				break
			}
			s.log.log.Warn("nats still cannot write", "error", err)
			select {
			case <-time.After(tendEvery):
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *Server) restart(ctx context.Context) error {
	s.current().Shutdown()
	s.current().WaitForShutdown()
	select {
	case <-s.log.broken: // from the server that was shut down
	default:
	}
	return s.start(ctx)
}

// probe writes roomNeeded bytes and removes them.
func (s *Server) probe() error {
	name := filepath.Join(s.config.StoreDir, "timerbus-room")
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	defer func() { _ = os.Remove(name) }()
	_, err = f.Write(make([]byte, roomNeeded))
	if syncErr := f.Sync(); err == nil {
		err = syncErr
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("try to write %d bytes: %w", roomNeeded, err)
	}
	return nil
}
