package store

import "context"

// APIKeys is an optional capability, found through As, of engines that store API keys. The engines of this repository
// have it.
type APIKeys interface {
	// GetAPIKey returns a key, or ErrNotFound.
	GetAPIKey(ctx context.Context, name string) (APIKey, error)
	// ListAPIKeys returns all keys, in any order.
	ListAPIKeys(ctx context.Context) ([]APIKey, error)
	// PutAPIKey writes a key. With Version 0 it creates the key with Version 1, or returns ErrExists. With another
	// Version it replaces Body and increments Version if the stored Version is equal; otherwise it returns ErrConflict,
	// or ErrNotFound if there is no such key.
	PutAPIKey(ctx context.Context, key APIKey) error
	// DeleteAPIKey removes a key, or returns ErrNotFound.
	DeleteAPIKey(ctx context.Context, name string) error
}

// APIKey is a credential of clients of the HTTP API, as it is stored.
type APIKey struct {
	// Name identifies the key. timer.CheckNamespace accepts it.
	Name string
	// Version starts at 1.
	Version int64
	// Body is UTF-8 text of at most MaxAPIKeyBody bytes, which engines store unchanged. It has no secret in clear text.
	Body string
}

// MaxAPIKeyBody bounds APIKey.Body, in bytes.
const MaxAPIKeyBody = 32 << 10
