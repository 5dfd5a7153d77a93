package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// Completion queries the service that the flags on the command line name. If the service does not answer, completion
// offers nothing and prints no error at the prompt.

const (
	// completionTimeout bounds the wait for the service.
	completionTimeout = time.Second
	// completedIDs is the maximum number of ids offered; a namespace may have millions.
	completedIDs = 100
)

// completeWith offers fixed words for a flag.
func completeWith(c *cobra.Command, flag string, words ...string) {
	offer := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	if err := c.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // the flag does not exist or has a completion already: a bug in this program
	}
}

// completeNamespaces offers the service's namespaces for --namespace.
func (r *remote) completeNamespaces(c *cobra.Command) {
	offer := func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return r.offerNamespaces(c, nil, word)
	}
	if err := c.RegisterFlagCompletionFunc("namespace", offer); err != nil {
		panic(err) // as above
	}
}

// offerNamespaces offers the service's namespaces for the first argument.
func (r *remote) offerNamespaces(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return r.offer(c, func(ctx context.Context, api *client.Client) ([]string, error) {
		all, err := api.ListNamespaces(ctx)
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].Name
		}
		return names, err
	})
}

// offerIDs offers the ids of timers of the namespace, ordered by due time.
func (t *timerCommands) offerIDs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return t.offer(c, func(ctx context.Context, api *client.Client) ([]string, error) {
		page, err := api.ListTimers(ctx, client.ListTimersRequest{Namespace: t.namespace, Limit: completedIDs})
		ids := make([]string, len(page.Timers))
		for i := range page.Timers {
			ids[i] = page.Timers[i].ID
		}
		return ids, err
	})
}

// offerIDs offers the ids of schedules of the namespace.
func (s *scheduleCommands) offerIDs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.offer(c, func(ctx context.Context, api *client.Client) ([]string, error) {
		var ids []string
		// A page may be empty although others follow.
		for one, err := range api.AllSchedules(ctx, client.ListSchedulesRequest{Namespace: s.namespace, Limit: completedIDs}) {
			if err != nil {
				return nil, err
			}
			if ids = append(ids, one.ID); len(ids) == completedIDs {
				break
			}
		}
		return ids, nil
	})
}

func (r *remote) offer(
	c *cobra.Command, list func(context.Context, *client.Client) ([]string, error),
) ([]string, cobra.ShellCompDirective) {
	api, err := r.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	words, err := list(ctx, api)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
