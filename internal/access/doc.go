// Package access decides what a client of the HTTP API may do. An Authenticator finds the Caller of a request by its
// credential: the token of the service, an API key (Keys), or a token of an identity provider (package jwt). The caller
// has grants: verbs in namespaces. It may import pkg/timer and pkg/store.
//
// Read grant.go, authenticator.go and keys.go.
package access
