// Package callback implements the protocol between a due timer and its receiver: the request, and the meaning of each
// possible answer for the timer.
//
// It imports pkg/timer, internal/event, pkg/webhook and internal/egress only. Classify is pure: it gets the answer, the timer,
// the present and a source of random bits, and returns a Verdict. Nothing in this package sleeps, retries or writes to
// the store.
//
// Read verdict.go first (the answer, the table and the CallbackResponse), then backoff.go (the delay of the next
// attempt). caller.go is the HTTP side; profile.go has the callback settings of a namespace. tokens.go decides when a token of
// OAuth 2.0 is requested, and token.go requests it.
package callback
