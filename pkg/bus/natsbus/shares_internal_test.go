package natsbus

import "testing"

// TestSharesOfAllStreamsFitIntoTheSession: streams with a backlog leave every other stream its share.
func TestSharesOfAllStreamsFitIntoTheSession(t *testing.T) {
	for _, messages := range []int{1, 8, 64, 100, 256, 1024, 4096} {
		for _, bytes := range []int{1 << 10, 1 << 20, 16 << 20, 64 << 20} {
			for open := range 2*MaxQueueStreams + 1 {
				for busy := range open + 1 {
					s := newShares(messages, bytes, open, busy)
					if s.idle < 1 || s.busy < 1 || s.idle > messages || s.busy > messages || s.idleBytes > bytes || s.busyBytes > bytes {
						t.Fatalf("%d messages, %d bytes, %d of %d busy: %+v", messages, bytes, busy, open, s)
					}
					if s.small || open <= 1 {
						continue
					}
					if n := s.idle*(open-busy) + s.busy*busy; n > messages {
						t.Fatalf("%d messages, %d of %d busy: the shares %+v are %d", messages, busy, open, s, n)
					}
					if n := s.idleBytes*(open-busy) + s.busyBytes*busy; n > bytes {
						t.Fatalf("%d bytes, %d of %d busy: the shares %+v are %d", bytes, busy, open, s, n)
					}
					if busy > 0 && s.busy*busy < messages*3/4-busy {
						t.Fatalf("%d messages, %d of %d busy: busy streams have %d each", messages, busy, open, s.busy)
					}
				}
			}
		}
	}
}
