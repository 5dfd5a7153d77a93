package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// tendEvery is the pause between attempts to start anew.
	tendEvery = time.Second
	// roomNeeded must be free before an attempt: recovery itself writes.
	roomNeeded = 4 << 20
)

// tend starts the server anew after a write error, once the folder takes data again. Clients see a
// lost connection and come back; what was acknowledged before the error is on disk.
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
	case <-s.log.broken: // from the server that is gone
	default:
	}
	return s.start(ctx)
}

// probe writes as much as must be free, and removes it.
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
