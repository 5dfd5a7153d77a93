// Package program runs the programs of tools/ that stop at an interrupt. It imports the standard library only, and never
// reads flags.
package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Run calls run with the program's arguments, and ends ctx at an interrupt. It returns the exit code. If run fails, Run
// prints the error after the program's name.
func Run(name string, run func(ctx context.Context, out io.Writer, args []string) error) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	return 0
}
