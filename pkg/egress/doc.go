// Package egress says where callbacks may go: which hosts and addresses the service connects to on behalf of
// whoever set a timer.
//
// It owns the policy, from its text to the check of a resolved address at the moment of dialling. It imports
// pkg/timer and code.dny.dev/ssrf, which keeps the lists of special addresses; it never resolves names and
// opens no connections of its own.
//
// Read policy.go (what the text says, and what it means for a URL), then dial.go (the check that counts).
package egress
