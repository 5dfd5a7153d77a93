package dynamostore

// Occupy takes all slots for requests, until release is called.
func (s *Store) Occupy() (release func()) {
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	return func() {
		for range cap(s.slots) {
			s.free()
		}
	}
}
