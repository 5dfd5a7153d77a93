package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2   // flags, arguments or settings are not acceptable; nothing was tried
	exitInterrupted = 130 // a second Ctrl-C, while draining
)

// usageError is one that a look at --help would have avoided.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, values ...any) error {
	return usageError{fmt.Errorf(format, values...)}
}

// program is what all commands share.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// entered: the command line was understood and a command has begun.
	entered bool
}

// run is the whole program: args without its name, the exit code back.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	root := p.root()
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "timerbus: %v\n", err)
	if _, usage := errors.AsType[usageError](err); p.entered && !usage {
		// Of the service's HTTP API; a database or a bus says its own.
		if _, request := errors.AsType[*url.Error](err); request && errors.Is(err, syscall.ECONNREFUSED) {
			fmt.Fprintln(stderr, "Nobody listens there: start `timerbus dev`, or name the service with --url or TIMERBUS_URL.")
		}
		return exitFailure
	}
	fmt.Fprintf(stderr, "`%s --help` tells what is accepted.\n", command.CommandPath())
	return exitUsage
}

func (p *program) root() *cobra.Command {
	commands := append([]*cobra.Command{p.devCommand()}, p.roleCommands()...)
	commands = append(commands, p.migrateCommand(), p.backupCommand(), p.receiveCommand(), p.timerCommand(), p.namespaceCommand(),
		p.shardCommand(), p.benchCommand(), p.versionCommand())
	root := group("timerbus", "Durable timers on a message bus", commands...)
	root.Long = `Durable timers on a message bus: call this URL, or publish this event, at that time.

Exit codes: 0 done, 1 failed, 2 the command line or a setting is not acceptable.`
	root.SilenceErrors, root.SilenceUsage = true, true // run says it, once
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	p.noteEntry(root)
	return root
}

// noteEntry sets entered where a command begins. Cobra's hooks come too early: before it has checked
// which flags exclude each other.
func (p *program) noteEntry(c *cobra.Command) {
	if begin := c.RunE; begin != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			p.entered = true
			return begin(c, args)
		}
	}
	for _, child := range c.Commands() {
		p.noteEntry(child)
	}
}

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("%q is no command: want %s", args[0], names(commands))
		}
		return usagef("want a command: %s", names(commands))
	}}
	c.AddCommand(commands...)
	return c
}

func names(commands []*cobra.Command) string {
	list := make([]string, 0, len(commands))
	for _, c := range commands {
		list = append(list, c.Name())
	}
	return strings.Join(list, ", ")
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.stdout, "timerbus %s\n", version)
			return err
		},
	}
}
