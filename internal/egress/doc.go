// Package egress is the policy for the destinations of callbacks: to which hosts and addresses the service connects on
// behalf of users.
//
// It owns the policy, from its text to the check of a resolved address when dialling. It imports pkg/timer and
// code.dny.dev/ssrf, which has the lists of special addresses. It never resolves names and opens no connections itself.
//
// Read policy.go (the text of a policy, and the check of a URL), then dial.go (the check of the resolved address, which
// is decisive).
package egress
