package client

import (
	"context"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/timer"
)

// CreateNamespace creates a namespace. If it exists with the same number of shards and with the given settings, the
// existing namespace is returned; otherwise the error has the code CodeNamespaceExists.
func (c *Client) CreateNamespace(ctx context.Context, r CreateNamespaceRequest) (Namespace, error) {
	return c.namespace(ctx, "namespaces/create", true, r)
}

// GetNamespace returns a namespace by name.
func (c *Client) GetNamespace(ctx context.Context, name string) (Namespace, error) {
	return c.namespace(ctx, "namespaces/get", true, api.NamespaceSelection{Name: name})
}

// UpdateNamespace changes the given settings. Existing timers keep their retry policy and callback timeout; the other
// settings apply to them too. With IfVersion, a namespace with a different version is not changed, and the error has
// the code CodeVersionConflict.
func (c *Client) UpdateNamespace(ctx context.Context, r UpdateNamespaceRequest) (Namespace, error) {
	return c.namespace(ctx, "namespaces/update", repeatable(r.IfVersion == 0), r)
}

// DeleteNamespace is one step of the deletion of a namespace, or counts its timers (DryRun). After the first step, the
// namespace accepts no creates, updates and retries any more.
func (c *Client) DeleteNamespace(ctx context.Context, r DeleteNamespaceRequest) (NamespaceDeletion, error) {
	var d NamespaceDeletion
	_, err := c.call(ctx, "namespaces/delete", true, r, &d)
	return d, err
}

// DeleteWholeNamespace deletes a namespace in steps, which takes at least a minute. progress, if not nil, is called after each
// step with the sums. If there is an error, the sums are those of the steps before it, and another call continues.
func (c *Client) DeleteWholeNamespace(
	ctx context.Context, r DeleteNamespaceRequest, progress func(NamespaceDeletion),
) (NamespaceDeletion, error) {
	var sum NamespaceDeletion
	for steps := 0; ; steps++ {
		d, err := c.DeleteNamespace(ctx, r)
		if steps > 0 && IsCode(err, CodeNamespaceNotFound) {
			d.Deleted, err = true, nil // the answer of an earlier request was lost, or another caller has deleted it
		}
		if err != nil {
			return sum, err
		}
		sum.PendingDeleted += d.PendingDeleted
		sum.Late += d.Late
		sum.FinishedPurged += d.FinishedPurged
		sum.Deleted, sum.RetryAfter = d.Deleted, d.RetryAfter
		if progress != nil {
			progress(sum)
		}
		if d.Deleted || r.DryRun {
			return sum, nil
		}
		if d.RetryAfter == "" {
			continue
		}
		wait, err := timer.ParseDuration(d.RetryAfter)
		if err != nil {
			return sum, fmt.Errorf("retryAfter of the answer: %w", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return sum, ctx.Err()
		}
	}
}

func (c *Client) namespace(ctx context.Context, path string, repeat repeatable, request any) (Namespace, error) {
	var ns Namespace
	_, err := c.call(ctx, path, repeat, request, &ns)
	return ns, err
}

// ListNamespaces returns all namespaces, ordered by name. It requests all pages.
func (c *Client) ListNamespaces(ctx context.Context) ([]Namespace, error) {
	var all []Namespace
	for request := (api.ListNamespacesRequest{Limit: 1000}); ; {
		var page api.NamespaceList
		if _, err := c.call(ctx, "namespaces/list", true, request, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Namespaces...)
		if request.Cursor = page.NextCursor; request.Cursor == "" {
			return all, nil
		}
	}
}

// ListShards returns a namespace's shards with their owners and watermarks, ordered by shard number.
func (c *Client) ListShards(ctx context.Context, namespace string) ([]Shard, error) {
	var list api.ShardList
	_, err := c.call(ctx, "shards/list", true, api.ListShardsRequest{Namespace: namespace}, &list)
	return list.Shards, err
}

// ListTargets returns the hosts and user topics that a namespace uses in the process that answers.
func (c *Client) ListTargets(ctx context.Context, r ListTargetsRequest) (TargetList, error) {
	var list TargetList
	_, err := c.call(ctx, "targets/list", true, r, &list)
	return list, err
}

// ListFlows returns a page of a namespace's flows that are in use, ordered by key. Next is the After of the next page; it is empty on
// the last page.
func (c *Client) ListFlows(ctx context.Context, r ListFlowsRequest) (FlowPage, error) {
	var page FlowPage
	_, err := c.call(ctx, "flows/list", true, r, &page)
	return page, err
}
