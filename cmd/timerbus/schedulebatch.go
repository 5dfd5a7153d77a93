package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/client"
)

func (s *scheduleCommands) batchCreate() *cobra.Command {
	var flags batchFlags
	var onConflict string
	c := &cobra.Command{
		Use: "batch-create [FILE]", Short: "Create many schedules, one JSON object per line",
		Long: `Create many schedules from a file, or from the standard input. Each line is the body of a create:

  {"id":"report-7","specs":[{"cron":"0 8 * * MON-FRI"}],"timeZone":"Europe/Berlin","timer":{"callbackUrl":"https://shop.example/report"}}

Lines are sent in batches, several at the same time, so that schedules on different lines may be created in any
order. A refused line does not affect the others: the command prints its number, field and reason, and exits
with code 1. If the service becomes unreachable, the command prints the last line up to which all lines were
answered; continue after it with --from-line. With --on-conflict keep, schedules that were already created do not start again.

With --json each refused line is printed as an object with the line and its scheduleId, and the last line is the report.`,
		Example: `  timerbus schedule batch-create schedules.jsonl --on-conflict keep
  seq 1000 | sed 's/.*/{"id":"s&","specs":[{"every":"1h"}]}/' | timerbus schedule batch-create -n billing`,
		Args: atMostAFile,
		RunE: func(c *cobra.Command, args []string) error {
			const what = "schedules, one JSON object per line"
			return s.withInput(&s.remote, args, &flags, what, func(service *client.Client, in io.Reader) error {
				run := batchRun[client.CreateScheduleRequest, client.ScheduleBatchResult]{
					program: s.program, flags: flags, json: s.json, of: batchOfSchedules(), verb: "created",
					send: service.BatchCreateSchedules, result: scheduleResult,
					id: func(r *client.CreateScheduleRequest) string { return r.ID },
					parse: func(text []byte) (r client.CreateScheduleRequest, err error) {
						err = parseStrictly(text, &r, `{"id":"poll","specs":[{"every":"15m"}]}`)
						r.Namespace = cmp.Or(r.Namespace, s.namespace)
						r.OnConflict = cmp.Or(r.OnConflict, api.CreateScheduleRequestOnConflict(onConflict))
						return r, err
					},
				}
				return run.run(c.Context(), in)
			})
		},
	}
	flags.add(c, "schedule")
	c.Flags().StringVar(&onConflict, "on-conflict", "", "replace, keep or fail, for lines without onConflict (default replace)")
	completeWith(c, "on-conflict", client.ScheduleReplace, client.ScheduleKeep, client.ScheduleFail)
	return c
}

func (s *scheduleCommands) batchDelete() *cobra.Command {
	var flags batchFlags
	c := &cobra.Command{
		Use: "batch-delete [FILE]", Short: "Delete many schedules, one id per line",
		Long: `Delete many schedules from a file, or from the standard input. Each line is an id, or an object such as

  {"namespace":"billing","id":"report-7","ifVersion":2,"pending":"delete"}

If a schedule does not exist, its line fails; otherwise as batch-create.`,
		Example: `  timerbus schedule batch-delete ids.txt -n billing
  printf 'report-7\nreport-8\n' | timerbus schedule batch-delete`,
		Args: atMostAFile,
		RunE: func(c *cobra.Command, args []string) error {
			return s.withInput(&s.remote, args, &flags, "ids, one per line", func(service *client.Client, in io.Reader) error {
				run := batchRun[client.DeleteScheduleRequest, client.ScheduleBatchResult]{
					program: s.program, flags: flags, json: s.json, of: batchOfSchedules(), verb: "deleted",
					send: service.BatchDeleteSchedules, result: scheduleResult,
					id: func(r *client.DeleteScheduleRequest) string { return r.ID },
					parse: func(text []byte) (r client.DeleteScheduleRequest, err error) {
						if text[0] == '{' {
							err = parseStrictly(text, &r, "")
						} else {
							r.ID = string(text)
						}
						r.Namespace = cmp.Or(r.Namespace, s.namespace)
						return r, err
					},
				}
				return run.run(c.Context(), in)
			})
		},
	}
	flags.add(c, "schedule")
	return c
}

func scheduleResult(r *client.ScheduleBatchResult) (inTime bool, err *client.Error) {
	return r.InTime, r.Err
}
