package client

import (
	"context"

	"github.com/timerbus/timerbus/pkg/api"
)

// CreateNamespace makes a namespace; one that exists with as many shards is answered as it is.
func (c *Client) CreateNamespace(ctx context.Context, r CreateNamespaceRequest) (Namespace, error) {
	return c.namespace(ctx, "namespaces/create", r)
}

// GetNamespace returns a namespace by name.
func (c *Client) GetNamespace(ctx context.Context, name string) (Namespace, error) {
	return c.namespace(ctx, "namespaces/get", api.NamespaceSelection{Name: name})
}

// UpdateNamespace changes the given settings. Timers that exist keep theirs.
func (c *Client) UpdateNamespace(ctx context.Context, r UpdateNamespaceRequest) (Namespace, error) {
	return c.namespace(ctx, "namespaces/update", r)
}

func (c *Client) namespace(ctx context.Context, path string, request any) (Namespace, error) {
	var ns Namespace
	_, err := c.call(ctx, path, true, request, &ns)
	return ns, err
}

// ListNamespaces returns all, by name.
func (c *Client) ListNamespaces(ctx context.Context) ([]Namespace, error) {
	var list api.NamespaceList
	_, err := c.call(ctx, "namespaces/list", true, api.ListNamespacesRequest{}, &list)
	return list.Namespaces, err
}

// ListShards tells who holds a namespace's shards and how far each is, by shard number.
func (c *Client) ListShards(ctx context.Context, namespace string) ([]Shard, error) {
	var list api.ShardList
	_, err := c.call(ctx, "shards/list", true, api.ListShardsRequest{Namespace: namespace}, &list)
	return list.Shards, err
}
