// Package callback is the protocol between a due timer and its receiver: the request that goes out, and
// what each possible answer means for the timer.
//
// It imports pkg/timer, pkg/event, pkg/webhook and pkg/egress only. Judging is pure: the answer, the timer, the present
// and a source of random bits go in, a Verdict comes out; nothing here sleeps, retries or writes.
//
// Read answer.go first (what came back), then verdict.go (the table), reply.go (the JSON a receiver may
// answer with), backoff.go (when to try again); caller.go is the HTTP side, and profile.go what a
// namespace adds to it.
package callback
