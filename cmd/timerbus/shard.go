package main

import (
	"cmp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// shardCommands are the commands about shards.
type shardCommands struct {
	*program
	remote

	namespace string
}

func (p *program) shardCommand() *cobra.Command {
	s := &shardCommands{program: p}
	c := group("shard", "Show the owners and the progress of shards", s.list())
	s.remote.flags(c)
	c.PersistentFlags().StringVarP(&s.namespace, "namespace", "n", "default", "namespace")
	s.completeNamespaces(c)
	return c
}

func (s *shardCommands) list() *cobra.Command {
	var overdue time.Duration
	c := &cobra.Command{
		Use: "list", Short: "List a namespace's shards", Args: exactly(),
		Long: `List a namespace's shards: the partition of each shard, the node that holds it and since when, how often it was
claimed (version), up to when its timers have been published (watermark), and for how long its oldest timer has
been overdue.

A shard whose node is "-" has no owner. If a timer is overdue for more than some seconds, its shard's scheduler,
the bus, or every dispatcher is stuck.`,
		Example: `  timerbus shard list -n billing
  timerbus shard list -n billing --overdue 5s --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.client()
			if err != nil {
				return err
			}
			shards, err := api.ListShards(c.Context(), s.namespace)
			if err != nil {
				return err
			}
			if overdue > 0 {
				shards = overdueShards(shards, overdue)
			}
			if s.json {
				return printJSON(s.stdout, map[string]any{"namespace": s.namespace, "shards": shards})
			}
			return table(s.stdout, shardRows(shards, time.Now()))
		},
	}
	durationFlag(c, &overdue, "overdue", 0, "only shards with a timer overdue for at least this long")
	return c
}

func overdueShards(all []client.Shard, least time.Duration) []client.Shard {
	late := []client.Shard{}
	for i := range all {
		// The service writes durations that timer.ParseDuration accepts.
		if lateBy, err := timer.ParseDuration(all[i].OverdueFor); err == nil && lateBy >= least {
			late = append(late, all[i])
		}
	}
	return late
}

func shardRows(shards []client.Shard, now time.Time) [][]string {
	rows := [][]string{{"SHARD", "PARTITION", "NODE", "VERSION", "CLAIMED", "WATERMARK", "NEXT DUE", "OVERDUE"}}
	for i := range shards {
		one := &shards[i]
		node, claimed := "-", "-"
		if one.Held {
			node, claimed = cmp.Or(one.Node, "?"), when(one.ClaimedAt, now)
		}
		watermark := "-"
		if !one.Watermark.IsZero() {
			watermark = one.Watermark.String()
		}
		rows = append(rows, []string{
			strconv.Itoa(one.Shard), strconv.Itoa(one.Partition), node, strconv.FormatInt(one.Version, 10),
			claimed, watermark, when(one.NextDueAt, now), cmp.Or(one.OverdueFor, "-"),
		})
	}
	return rows
}
