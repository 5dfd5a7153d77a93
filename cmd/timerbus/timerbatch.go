package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/client"
)

func (t *timerCommands) batchCreate() *cobra.Command {
	var flags batchFlags
	var onConflict string
	c := &cobra.Command{
		Use: "batch-create [FILE]", Short: "Create many timers, one JSON object per line",
		Long: `Create many timers from a file, or from the standard input. Each line is the body of a create:

  {"id":"order-17","executeIn":"15m","callbackUrl":"https://shop.example/expire","payload":{"order":17}}

Lines are sent in batches, several at the same time, so that timers on different lines may be created in any
order. A refused line does not affect the others: the command prints its number, field and reason, and exits
with code 1. If the service becomes unreachable, the command prints the last line up to which all lines were
answered; continue after it with --from-line. With --on-conflict keep, timers that were already created do not fire twice.

With --json each refused line is printed as an object with the line and its timerId, and the last line is the report.`,
		Example: `  timerbus timer batch-create timers.jsonl --on-conflict keep
  timerbus timer batch-create timers.jsonl --from-line 40001
  seq 1000 | sed 's/.*/{"id":"t&","executeIn":"1h"}/' | timerbus timer batch-create -n billing`,
		Args: atMostAFile,
		RunE: func(c *cobra.Command, args []string) error {
			return t.withInput(&t.remote, args, &flags, "timers, one JSON object per line", func(api *client.Client, in io.Reader) error {
				run := batchRun[client.CreateTimerRequest, client.BatchResult]{
					program: t.program, flags: flags, json: t.json, of: batchOfTimers(), verb: "created",
					send: api.BatchCreateTimers, result: timerResult,
					id: func(r *client.CreateTimerRequest) string { return cmp.Or(r.ID, r.TimerID) },
					parse: func(text []byte) (r client.CreateTimerRequest, err error) {
						err = parseStrictly(text, &r, `{"id":"order-17","executeIn":"15m"}`)
						r.Namespace = cmp.Or(r.Namespace, t.namespace)
						r.OnConflict = client.OnConflict(cmp.Or(string(r.OnConflict), onConflict))
						return r, err
					},
				}
				return run.run(c.Context(), in)
			})
		},
	}
	flags.add(c, "timer")
	c.Flags().StringVar(&onConflict, "on-conflict", "", "replace, keep or fail, for lines without onConflict (default replace)")
	completeWith(c, "on-conflict", "replace", "keep", "fail")
	return c
}

func (t *timerCommands) batchDelete() *cobra.Command {
	var flags batchFlags
	c := &cobra.Command{
		Use: "batch-delete [FILE]", Short: "Delete many timers, one id per line",
		Long: `Delete many timers from a file, or from the standard input. Each line is an id, or an object such as

  {"namespace":"billing","timerId":"order-17","ifGeneration":"3706188562493276161"}

If a timer does not exist, its line fails; otherwise as batch-create.`,
		Example: `  timerbus timer batch-delete ids.txt -n billing
  printf 'order-17\norder-18\n' | timerbus timer batch-delete`,
		Args: atMostAFile,
		RunE: func(c *cobra.Command, args []string) error {
			return t.withInput(&t.remote, args, &flags, "ids, one per line", func(api *client.Client, in io.Reader) error {
				run := batchRun[client.DeleteTimerRequest, client.BatchResult]{
					program: t.program, flags: flags, json: t.json, of: batchOfTimers(), verb: "deleted",
					send: api.BatchDeleteTimers, result: timerResult,
					id: func(r *client.DeleteTimerRequest) string { return cmp.Or(r.TimerID, r.ID) },
					parse: func(text []byte) (r client.DeleteTimerRequest, err error) {
						if text[0] == '{' {
							err = parseStrictly(text, &r, "")
						} else {
							r.TimerID = string(text)
						}
						r.Namespace = cmp.Or(r.Namespace, t.namespace)
						return r, err
					},
				}
				return run.run(c.Context(), in)
			})
		},
	}
	flags.add(c, "timer")
	return c
}

func timerResult(r *client.BatchResult) (inTime bool, err *client.Error) { return r.InTime, r.Err }

func atMostAFile(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%q is not accepted: %s wants one FILE, or none to read the standard input", args[1], c.Name())
	}
	return nil
}

// withInput checks the flags of a batch command, opens its input, and runs it.
func (p *program) withInput(
	connection *remote, args []string, flags *batchFlags, what string, run func(*client.Client, io.Reader) error,
) error {
	if err := flags.check(); err != nil {
		return err
	}
	api, err := connection.client()
	if err != nil {
		return err
	}
	in, closeInput, err := p.input(args, what)
	if err != nil {
		return err
	}
	defer closeInput()
	return run(api, in)
}

// input opens the named file, or the standard input if there is no argument or the argument is -.
func (p *program) input(args []string, what string) (in io.Reader, closeInput func(), err error) {
	if len(args) == 0 || args[0] == "-" {
		if f, ok := p.stdin.(*os.File); ok && process.IsTerminal(f) {
			fmt.Fprintf(p.stderr, "reading %s (Ctrl-D ends it)\n", what)
		}
		return p.stdin, func() {}, nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, nil, usagef("FILE: %w", err)
	}
	return f, func() { _ = f.Close() }, nil // the file was only read
}
