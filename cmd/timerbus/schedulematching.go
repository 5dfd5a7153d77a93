package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

func (s *scheduleCommands) pauseMatching(c *cobra.Command, filter *filterFlags, note string) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	work := change{
		program: s.program, filter: filter, json: s.json, verb: "pause", done: "paused",
		why: "were paused, parked, deleted or changed meanwhile",
	}
	work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
		return api.PauseAllMatchingSchedules(ctx, client.PauseMatchingSchedulesRequest{
			Namespace: filter.namespace, Status: client.ScheduleStatus(filter.status), Note: note,
			NextFrom: filter.from, NextBefore: filter.before,
			Limit: filter.pageSize, Cursor: filter.cursor,
		}, progress)
	}
	return work.run(c.Context(), api)
}

func (s *scheduleCommands) resumeMatching(c *cobra.Command, filter *filterFlags) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	filter.status = cmp.Or(filter.status, "paused")
	work := change{
		program: s.program, filter: filter, json: s.json, verb: "resume", done: "resumed",
		why: "were resumed, deleted or changed meanwhile",
	}
	work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
		return api.ResumeAllMatchingSchedules(ctx, client.ResumeMatchingSchedulesRequest{
			Namespace: filter.namespace, Status: client.ScheduleStatus(filter.status), NextFrom: filter.from, NextBefore: filter.before,
			Limit: filter.pageSize, Cursor: filter.cursor,
		}, progress)
	}
	return work.run(c.Context(), api)
}

func (s *scheduleCommands) deleteMatching(c *cobra.Command, filter *filterFlags) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	work := change{program: s.program, filter: filter, json: s.json, verb: "delete", done: "deleted"}
	work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
		return api.DeleteAllMatchingSchedules(ctx, client.DeleteMatchingSchedulesRequest{
			Namespace: filter.namespace, Status: client.ScheduleStatus(filter.status), NextFrom: filter.from, NextBefore: filter.before,
			Limit: filter.pageSize, Cursor: filter.cursor,
		}, progress)
	}
	return work.run(c.Context(), api)
}
