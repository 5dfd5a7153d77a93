// Package enginetest contains what the tests of several bus engines have in common and bustest does not cover, because it
// is not part of the contract: Follow, the golden vectors in the format of the broker, and sessions for single tests. Only
// tests import it.
//
// It imports pkg/bus, and never an engine. Read session.go (the sessions), then follow.go and vectors.go.
package enginetest
