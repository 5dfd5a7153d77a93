package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/runtime"
)

func (t *timerCommands) batchCreate() *cobra.Command {
	var flags batchFlags
	var onConflict string
	c := &cobra.Command{
		Use: "batch-create [FILE]", Short: "Create many timers, one JSON object a line",
		Long: `Create many timers from a file, or from the input if none is named. Each line is the body of a create:

  {"id":"order-17","executeIn":"15m","callbackUrl":"https://shop.example/expire","payload":{"order":17}}

Lines are sent in batches, several at the same time, so that timers on different lines may be created in any
order. A line that is refused does not hinder the others: it is named with its field and reason, and the exit
code is 1. When the service cannot be reached any more, the last line is named up to which all were answered;
--from-line goes on behind it, and with --on-conflict keep nothing fires twice that was created before.

With --json each refused line is printed as an object with the line and its timerId, and the last line is the report.`,
		Example: `  timerbus timer batch-create timers.jsonl --on-conflict keep
  timerbus timer batch-create timers.jsonl --from-line 40001
  seq 1000 | sed 's/.*/{"id":"t&","executeIn":"1h"}/' | timerbus timer batch-create -n billing`,
		Args: atMostAFile,
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			api, err := t.client()
			if err != nil {
				return err
			}
			in, closeInput, err := t.input(args, "timers, one JSON object a line")
			if err != nil {
				return err
			}
			defer closeInput()
			run := batchRun[client.CreateTimerRequest]{
				program: t.program, flags: flags, json: t.json, verb: "created", send: api.BatchCreateTimers,
				id: func(r *client.CreateTimerRequest) string { return or(r.ID, r.TimerID) },
				parse: func(text []byte) (r client.CreateTimerRequest, err error) {
					err = parseStrictly(text, &r)
					r.Namespace = or(r.Namespace, t.namespace)
					r.OnConflict = client.OnConflict(or(string(r.OnConflict), onConflict))
					return r, err
				},
			}
			return run.run(c.Context(), in)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&onConflict, "on-conflict", "", "replace, keep or fail, for lines that do not say (default replace)")
	completeWith(c, "on-conflict", "replace", "keep", "fail")
	return c
}

func (t *timerCommands) batchDelete() *cobra.Command {
	var flags batchFlags
	c := &cobra.Command{
		Use: "batch-delete [FILE]", Short: "Delete many timers, one id a line",
		Long: `Delete many timers from a file, or from the input if none is named. Each line is an id, or an object such as

  {"namespace":"billing","timerId":"order-17","ifGeneration":"3706188562493276161"}

A timer that is not there (any more) is a failure of its line; else as batch-create.`,
		Example: `  timerbus timer batch-delete ids.txt -n billing
  printf 'order-17\norder-18\n' | timerbus timer batch-delete`,
		Args: atMostAFile,
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			api, err := t.client()
			if err != nil {
				return err
			}
			in, closeInput, err := t.input(args, "ids, one a line")
			if err != nil {
				return err
			}
			defer closeInput()
			run := batchRun[client.DeleteTimerRequest]{
				program: t.program, flags: flags, json: t.json, verb: "deleted", send: api.BatchDeleteTimers,
				id: func(r *client.DeleteTimerRequest) string { return or(r.TimerID, r.ID) },
				parse: func(text []byte) (r client.DeleteTimerRequest, err error) {
					if text[0] == '{' {
						err = parseStrictly(text, &r)
					} else {
						r.TimerID = string(text)
					}
					r.Namespace = or(r.Namespace, t.namespace)
					return r, err
				},
			}
			return run.run(c.Context(), in)
		},
	}
	flags.add(c)
	return c
}

func atMostAFile(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%q is not accepted: %s wants one FILE, or none to read the input", args[1], c.Name())
	}
	return nil
}

// input opens the named file, or the standard input if there is no argument or the argument is -.
func (t *timerCommands) input(args []string, what string) (in io.Reader, closeInput func(), err error) {
	if len(args) == 0 || args[0] == "-" {
		if f, ok := t.stdin.(*os.File); ok && runtime.IsTerminal(f) {
			fmt.Fprintf(t.stderr, "reading %s (Ctrl-D ends it)\n", what)
		}
		return t.stdin, func() {}, nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, nil, usagef("FILE: %w", err)
	}
	return f, func() { _ = f.Close() }, nil // the file was only read
}
