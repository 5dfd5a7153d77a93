package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

func (t *timerCommands) count() *cobra.Command {
	var status, dueFrom, dueBefore string
	c := &cobra.Command{
		Use: "count", Short: "Count a namespace's timers", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			request := client.CountTimersRequest{Namespace: t.namespace, Status: client.Status(status)}
			if request.DueFrom, err = instant("--due-from", dueFrom); err != nil {
				return err
			}
			if request.DueBefore, err = instant("--due-before", dueBefore); err != nil {
				return err
			}
			result, err := api.CountTimers(c.Context(), request)
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, result)
			case result.Truncated:
				_, err = fmt.Fprintf(t.stdout, "at least %s\n", counted(int(result.Count), "timer"))
			default:
				_, err = fmt.Fprintln(t.stdout, counted(int(result.Count), "timer"))
			}
			return err
		},
	}
	c.Flags().StringVar(&status, "status", "", "scheduled, retrying, parked, paused, done or dead (default: the first four)")
	c.Flags().StringVar(&dueFrom, "due-from", "", "only timers due from this time on")
	c.Flags().StringVar(&dueBefore, "due-before", "", "only timers due before this time")
	completeWith(c, "status", "scheduled", "retrying", "parked", "paused", "done", "dead")
	return c
}

// forecastFor is the length of a forecast without an end.
const forecastFor = 24 * time.Hour

func (t *timerCommands) forecast() *cobra.Command {
	var from, to, bucket string
	c := &cobra.Command{
		Use: "forecast", Short: "Count the timers that become due, for each part of a time range", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			request := client.ForecastTimersRequest{Namespace: t.namespace, Bucket: bucket}
			if request.From, err = instant("--from", from); err != nil {
				return err
			}
			if request.To, err = instant("--to", to); err != nil {
				return err
			}
			if to == "" {
				if from == "" {
					request.From = client.At(time.Now()) // by the same clock as the end
				}
				request.To = client.At(request.From.Add(forecastFor))
			}
			result, err := api.ForecastTimers(c.Context(), request)
			if err != nil {
				return err
			}
			return t.printForecast(&result)
		},
	}
	c.Flags().StringVar(&from, "from", "", "beginning of the range (default: now)")
	c.Flags().StringVar(&to, "to", "", "end of the range (default: 24h after its beginning)")
	c.Flags().StringVar(&bucket, "bucket", "1h", "length of a part, at least 1s; a range has at most 1,000 parts")
	return c
}

func (t *timerCommands) printForecast(f *client.TimerForecast) error {
	if t.json {
		return printJSON(t.stdout, f)
	}
	bucket, err := timer.ParseDuration(f.Bucket)
	if err != nil {
		return fmt.Errorf("the answer has the bucket %q: %w", f.Bucket, err)
	}
	rows := [][]string{{"FROM", "DUE"}}
	for i, n := range f.Counts {
		begin := client.At(f.From.Add(time.Duration(i) * bucket))
		if f.Truncated && !begin.Before(f.CompleteBefore.Time) {
			break
		}
		rows = append(rows, []string{begin.String(), strconv.FormatInt(n, 10)})
	}
	if err := table(t.stdout, rows); err != nil || !f.Truncated {
		return err
	}
	_, err = fmt.Fprintf(t.stderr, "counted only the timers that are due before %s: continue with --from %[1]s\n", f.CompleteBefore)
	return err
}
