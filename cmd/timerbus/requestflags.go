package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// requestFlags are the request of a callback.
type requestFlags struct {
	method, body, contentType string
	reschedule                bool
}

func (f *requestFlags) add(c *cobra.Command) {
	methods := timer.Methods()
	c.Flags().StringVar(&f.method, "method", "",
		"send this request instead of a POST with JSON: "+strings.Join(methods, ", ")+" (default with --body: POST)")
	c.Flags().StringVar(&f.body, "body", "", "body of the request, any bytes; @file reads a file, - reads the input")
	c.Flags().StringVar(&f.contentType, "content-type", "",
		"media type of the body (default: text/plain, or application/octet-stream if it is not UTF-8)")
	c.Flags().BoolVar(&f.reschedule, "reschedule", false,
		"let the answer to the request reschedule the timer (default: only its status counts)")
	completeWith(c, "method", methods...)
}

// given reports whether one of the flags is set.
func (f *requestFlags) given(c *cobra.Command) bool {
	for _, name := range []string{"method", "body", "content-type", "reschedule"} {
		if c.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// request returns the request; its zero value if no flag is set.
func (f *requestFlags) request(c *cobra.Command, stdin io.Reader) (client.TimerRequest, error) {
	if !f.given(c) {
		return client.TimerRequest{}, nil
	}
	r := client.TimerRequest{Method: client.RequestMethod(f.method), ContentType: f.contentType, Reschedule: f.reschedule}
	if r.Method == "" {
		r.Method = "POST"
	}
	if !c.Flags().Changed("body") {
		return r, nil
	}
	body, err := readValue(f.body, stdin)
	switch {
	case err != nil:
		return r, usagef("--body: %w", err)
	case utf8.Valid(body):
		r.Body = new(string(body))
	default:
		r.BodyBase64 = body
	}
	return r, nil
}

// longestInput bounds the file or input of a flag, in bytes. The service checks the limits of the field.
const longestInput = 1 << 20

// readValue returns the value of a flag: the text itself, the content of a file for @FILE, or the input for -. A file or an input
// of more than longestInput bytes is an error.
func readValue(given string, stdin io.Reader) ([]byte, error) {
	from := stdin
	switch {
	case given == "-":
	case strings.HasPrefix(given, "@"):
		file, err := os.Open(given[1:])
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		from = file
	default:
		return []byte(given), nil
	}
	text, err := io.ReadAll(io.LimitReader(from, longestInput+1))
	if err == nil && len(text) > longestInput {
		err = fmt.Errorf("it has more than %d bytes", longestInput)
	}
	return text, err
}
