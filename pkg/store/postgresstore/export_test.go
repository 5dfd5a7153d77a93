package postgresstore

import "github.com/timerbus/timerbus/pkg/store/internal/relational"

// SetListLimits makes every page of a list meet limits that otherwise need thousands of timers.
func (s *Store) SetListLimits(looked, sorted, chunk int) {
	s.listLimits = relational.ListLimits{Looked: looked, Sorted: sorted, Chunk: chunk}
}
