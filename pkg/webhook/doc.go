// Package webhook signs deliveries according to Standard Webhooks (https://www.standardwebhooks.com): it defines the
// headers, the signed bytes and the format of secrets.
//
// It imports the standard library and pkg/timer only. It never stores a secret and never shows one: errors and the
// printed forms of a Secret contain only its id.
//
// Read secret.go, then sign.go.
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package webhook
