package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// program is the state that all commands share.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// entered is set when the command line was parsed and a command has begun.
	entered bool
}

// run runs the whole program. args does not include the program's name. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	root := p.root()
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	return p.report(err, command, args)
}

func (p *program) root() *cobra.Command {
	commands := append([]*cobra.Command{p.devCommand()}, p.roleCommands()...)
	commands = append(commands, p.configCommand(), p.doctorCommand(), p.healthcheckCommand(), p.migrateCommand(), p.outboxCommand(),
		p.backupCommand(), p.restoreCommand(), p.receiveCommand(), p.timerCommand(), p.scheduleCommand(), p.namespaceCommand(),
		p.keyCommand(), p.shardCommand(), p.flowCommand(), p.clockCommand(),
		p.benchCommand(), p.versionCommand())
	root := group("timerbus", "Durable timers on a message bus", commands...)
	root.Long = `Durable timers on a message bus: call this URL, or publish this event, at that time.

"timerbus help exit-codes" lists the exit codes.`
	root.AddCommand(exitCodesTopic())
	root.SilenceErrors, root.SilenceUsage = true, true // report prints the error, once
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	p.noteEntry(root)
	return root
}

// noteEntry sets entered when a command's RunE begins. Cobra's hooks run too early: before it has checked which flags
// exclude each other.
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

// group returns a command that only contains others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("%q is not a command: want %s", args[0], names(commands))
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
