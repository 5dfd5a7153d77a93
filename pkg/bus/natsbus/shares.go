package natsbus

import "time"

// The bounds of a queue session, MaxInFlight and MaxBytes, are shared by all streams. A waiting request uses part of
// them, so an idle stream must not have large requests, and a stream with a backlog must leave room for others.
//
// A stream is busy if more messages were waiting behind its last one. Busy streams have equal shares of the bounds,
// which include messages in flight. The requests of an idle stream have a small share, together a quarter of the
// messages and a sixteenth of the bytes, which busy streams leave free. So a message of an idle stream never waits
// for the backlog of another stream.
//
// If the bounds are too small to be shared, each stream may use all of them, and idle streams have requests for one
// message, which end after smallExpires while the bounds are scarce. Readers send requests in the order of their last
// request, oldest first.

// smallExpires is the lifetime of a request to an idle stream while the bounds are scarce.
const smallExpires = 100 * time.Millisecond

// usage is the number and size of the messages that a session has in flight or has requested.
type usage struct {
	messages, bytes int
	open, busy      int // number of streams
	scarce          bool
}

// shares are the bounds of a session and of each of its streams.
type shares struct {
	messages, bytes int  // of the session
	idle, idleBytes int  // of the requests of an idle stream
	most, mostBytes int  // of an idle stream with its messages in flight
	busy, busyBytes int  // of a busy stream
	small           bool // the bounds are too small to be shared
}

func newShares(messages, bytes, open, busy int) shares {
	s := shares{
		messages: messages, bytes: bytes, idle: messages, idleBytes: bytes,
		most: messages, mostBytes: bytes, busy: messages, busyBytes: bytes,
	}
	if open <= 1 {
		return s
	}
	if messages < 16*open || bytes < 64*open*minEstimate {
		s.idle, s.small = 1, true
		return s
	}
	s.idle, s.idleBytes = messages/(4*open), bytes/(16*open)
	s.most, s.mostBytes = messages-s.idle*(open-1), bytes-s.idleBytes*(open-1)
	if busy > 0 {
		s.busy = (messages - s.idle*(open-busy)) / busy
		s.busyBytes = (bytes - s.idleBytes*(open-busy)) / busy
	}
	return s
}

// scarce reports whether requests of idle streams could keep a busy stream from using small bounds. inFlight and
// inFlightBytes exclude requests.
func (s *shares) scarce(open, inFlight, inFlightBytes int) bool {
	return s.small && (s.messages-inFlight < 4*open || s.bytes-inFlightBytes < 4*open*minEstimate)
}
