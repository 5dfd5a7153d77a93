package client

import (
	"context"

	"github.com/timerbus/timerbus/pkg/api"
)

// CreateKey creates an API key. If the name is taken, the error has the code CodeKeyExists. A try is not repeated after a
// missing answer, because the token would be lost: then revoke the key and create it again.
func (c *Client) CreateKey(ctx context.Context, r CreateKeyRequest) (NewKey, error) {
	return c.newKey(ctx, "keys/create", r)
}

// RotateKey gives an API key a new token. The earlier token is accepted for the time of Overlap. A try is not repeated
// after a missing answer.
func (c *Client) RotateKey(ctx context.Context, r RotateKeyRequest) (NewKey, error) {
	return c.newKey(ctx, "keys/rotate", r)
}

func (c *Client) newKey(ctx context.Context, path string, request any) (NewKey, error) {
	var key NewKey
	_, err := c.call(ctx, path, false, request, &key)
	return key, err
}

// RevokeKey revokes an API key. A process that has used the key recently accepts it for at most 5 s more. If there is no
// such key, the error has the code CodeKeyNotFound.
func (c *Client) RevokeKey(ctx context.Context, name string) error {
	_, err := c.call(ctx, "keys/revoke", false, api.RevokeKeyRequest{Name: name}, nil)
	return err
}

// ListKeys returns all API keys, ordered by name.
func (c *Client) ListKeys(ctx context.Context) ([]Key, error) {
	var list api.KeyList
	_, err := c.call(ctx, "keys/list", true, api.ListKeysRequest{}, &list)
	return list.Keys, err
}

// Caller returns the name and the grants of the client's credential.
func (c *Client) Caller(ctx context.Context) (Caller, error) {
	var caller Caller
	_, err := c.call(ctx, "caller/get", true, api.GetCallerRequest{}, &caller)
	return caller, err
}
