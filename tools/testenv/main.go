//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

const usage = `testenv starts the servers that tests need and runs a command with their addresses:

  testenv --need postgres,postgres15 [--cache folder] -- command …

Without a command it prints the addresses and waits for an interrupt.

`

func main() {
	// The command gets signals from the terminal, or from here. The servers are stopped after the command has ended.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	code, err := run(context.Background(), os.Args[1:], signals)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
	}
	os.Exit(code)
}

// run returns the command's exit code, or 1 with an error of testenv.
func run(ctx context.Context, args []string, signals <-chan os.Signal) (code int, err error) {
	flags := flag.NewFlagSet("testenv", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	need := flags.String("need", "", "servers to start, separated by commas: "+strings.Join(names(recipes()), ", "))
	cache := flags.String("cache", "", "folder for packages (default .cache/testenv in the folder of go.work)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil:
		return 2, nil // flags has printed the error
	}
	wanted, err := selected(recipes(), *need)
	if err != nil {
		return 2, err
	}
	e, err := newEnvironment(*cache, os.Stderr)
	if err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := e.close(); stopErr != nil {
			code, err = max(code, 1), errors.Join(err, stopErr)
		}
	}()

	// An interrupt while servers start cancels the start immediately.
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	started := make(chan error, 1)
	go func() { started <- e.start(starting, wanted) }()
	select {
	case err = <-started:
	case s := <-signals:
		cancel(fmt.Errorf("canceled by signal: %s", s))
		err = <-started
	}
	if err != nil {
		return 1, err
	}
	if flags.NArg() == 0 {
		for _, line := range e.variables() {
			fmt.Fprintln(os.Stdout, "export", line)
		}
		<-signals
		return 0, nil
	}
	return command(flags.Args(), e.variables(), signals, os.Stdout, os.Stderr)
}

// command runs the command line argv, and forwards signals to it.
func command(argv, variables []string, signals <-chan os.Signal, stdout, stderr io.Writer) (int, error) {
	//nolint:gosec,noctx // this program's purpose is to run a given command; a signal ends it
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), variables...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("run %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			// The command may have ended just now; then the signal is not needed.
			_ = cmd.Process.Signal(s)
		case err := <-ended:
			var exit *exec.ExitError
			if err == nil || errors.As(err, &exit) {
				return exitCode(cmd.ProcessState), nil
			}
			return 1, fmt.Errorf("run %s: %w", argv[0], err)
		}
	}
}

// exitCode returns the exit code as a shell reports it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// selected returns the recipes that are named in a list separated by commas or spaces.
func selected(all []recipe, need string) ([]recipe, error) {
	var out []recipe
	for name := range strings.FieldsFuncSeq(need, func(r rune) bool { return r == ',' || r == ' ' }) {
		at := slices.IndexFunc(all, func(r recipe) bool { return r.name == name })
		if at < 0 {
			return nil, fmt.Errorf("--need %s: unknown server, want one of %s", name, strings.Join(names(all), ", "))
		}
		if !slices.ContainsFunc(out, func(r recipe) bool { return r.name == name }) {
			out = append(out, all[at])
		}
	}
	return out, nil
}
