package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitRefused     = 5
	exitUnreachable = 6
	exitInterrupted = 130
)

// exits is the table of exit codes, for the help and for docs/operations.md.
var exits = []struct {
	code          int
	name, meaning string
}{
	{exitOK, "done", "the command succeeded"},
	{exitFailure, "failed", "any other error; after `OUTCOME_UNKNOWN` a change may have been applied"},
	{exitUsage, "usage", "the command line or a setting is not acceptable; nothing was tried"},
	{exitNotFound, "not found", "there is no such timer, schedule or namespace"},
	{
		exitConflict, "conflict",
		"the timer, schedule or namespace exists, or has another generation or version than `--if-generation` or `--if-version`",
	},
	{exitRefused, "refused", "the service refuses the request: its input, or a missing or wrong token"},
	{exitUnreachable, "unreachable", "the service, bus or database does not answer, or takes no requests now"},
	{exitInterrupted, "interrupted", "a second Ctrl-C while the process was draining"},
}

func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("Exit codes:\n")
	for _, e := range exits {
		fmt.Fprintf(&text, "\n  %3d  %-11s  %s", e.code, e.name, e.meaning)
	}
	text.WriteString(`

If a connection breaks after a request was sent, the code is 6 and a change may have been applied.

With --json an error is one line of JSON on the error output:

  {"error":{"code":"TIMER_NOT_FOUND","message":"…","status":404,"details":{…},"exitCode":3}}

code is the API's; USAGE, UNREACHABLE and FAILED come from the command itself. A hint, if there is one, says what to do.`)
	return &cobra.Command{Use: "exit-codes", Short: "Exit codes, and errors as JSON", Long: text.String()}
}

// usageError is an error that the user could have avoided by reading --help.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, values ...any) error {
	return usageError{fmt.Errorf(format, values...)}
}

// hintedError is an error with a hint: what to do about it, printed on a separate line.
type hintedError struct {
	error

	hint string
}

func (e hintedError) Unwrap() error { return e.error }

// problem is the error with which a command ends.
type problem struct {
	// Code is the API's error code, or USAGE, UNREACHABLE or FAILED.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Status is the HTTP status of the answer, 0 if there was none.
	Status   int            `json:"status,omitempty"`
	Details  map[string]any `json:"details,omitempty"`
	Hint     string         `json:"hint,omitempty"`
	ExitCode int            `json:"exitCode"`
}

// problemOf classifies an error of a command. usage means that the command had not begun.
func problemOf(err error, c *cobra.Command, usage bool) problem {
	p := problem{Code: "FAILED", Message: err.Error(), ExitCode: exitFailure}
	if hinted, ok := errors.AsType[hintedError](err); ok {
		p.Hint = hinted.hint
	}
	if _, ok := errors.AsType[usageError](err); ok || usage {
		p.Code, p.ExitCode = "USAGE", exitUsage
		p.Hint = fmt.Sprintf("Run `%s --help` for the accepted arguments.", c.CommandPath())
		return p
	}
	if answered, ok := errors.AsType[*client.Error](err); ok {
		p.answered(answered)
		return p
	}
	_, request := errors.AsType[*url.Error](err)
	if !errors.Is(err, context.Canceled) && (request || away(err) != "") {
		p.Code, p.ExitCode = "UNREACHABLE", exitUnreachable
	}
	// Errors of a database or a bus name their own settings.
	if request && errors.Is(err, syscall.ECONNREFUSED) && p.Hint == "" {
		p.Hint = "No service listens there: start `timerbus dev`, or set the URL of the service with --url or TIMERBUS_URL."
	}
	return p
}

// answered classifies an answer by its status. An answer without an error code is not from the service but, for
// example, from a proxy.
func (p *problem) answered(e *client.Error) {
	p.Status, p.Details = e.Status, e.Details
	ours := e.Code != ""
	switch e.Status {
	case http.StatusNotFound:
		p.ExitCode = exitRefused
		switch e.Code {
		case client.CodeTimerNotFound, client.CodeScheduleNotFound, client.CodeNamespaceNotFound:
			p.ExitCode = exitNotFound
		default: // there is no such path: the service is of another release
		}
	case http.StatusConflict:
		p.ExitCode = exitConflict
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		p.ExitCode = exitUnreachable
	default:
		if e.Status >= 400 && e.Status < 500 {
			p.ExitCode = exitRefused
		}
	}
	if ours {
		p.Code, p.Message = string(e.Code), e.Message
		return
	}
	p.Message = e.Error()
	if e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden {
		p.Code, p.ExitCode = "UNREACHABLE", exitUnreachable
	}
}

func (p *program) report(err error, c *cobra.Command, args []string) int {
	told := problemOf(err, c, !p.entered)
	if asksForJSON(c, args) && printLine(p.stderr, map[string]problem{"error": told}) == nil {
		return told.ExitCode
	}
	fmt.Fprintf(p.stderr, "timerbus: %v\n", err)
	if told.Hint != "" {
		fmt.Fprintln(p.stderr, told.Hint)
	}
	return told.ExitCode
}

// asksForJSON reports whether --json is given, even if flag parsing failed before it was reached.
func asksForJSON(c *cobra.Command, args []string) bool {
	f := c.Flags().Lookup("json")
	return f != nil && f.Value.String() == "true" || slices.Contains(args, "--json")
}
