package main

import (
	"context"
	"os"

	"github.com/timerbus/timerbus/internal/process"
)

func main() {
	ctx, release := process.Interruptible(context.Background(), func() { os.Exit(exitInterrupted) })
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}
