package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// maxLine is far above what a timer with the largest payload needs.
	maxLine = 4 * timer.MaxPayload
	// maxChunk bounds the lines of one batch in bytes; the service takes 8 MiB unless told otherwise.
	maxChunk = 4 << 20
	// patience is about how long a batch waits for a slow input to fill it.
	patience = time.Second
)

// line is one line of the input that is not empty.
type line struct {
	number int
	text   []byte
	err    error // why it could not be read
}

// chunk is what becomes one request.
type chunk[T any] struct {
	sequence int // 0, 1, 2, … in the order of the input
	last     int // the number of the last line that went into it or was refused before
	items    []T
	numbers  []int // the items' lines
	refused  []failure
}

// readLines hands over the lines from the from-th on, until the input ends, cannot
// be read, or ctx ends. Nobody waits for it: reading from a terminal or a pipe cannot be interrupted.
func readLines(ctx context.Context, in io.Reader, from int, lines chan<- line) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		text, long, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d: %w", number, err)
		}
		end := err != nil
		l := line{number: number, text: bytes.TrimSpace(text)}
		switch {
		case long:
			l.err = fmt.Errorf("a line of more than %d bytes is not accepted", maxLine)
		case !utf8.Valid(l.text):
			l.err = errors.New("not UTF-8")
		}
		if number >= from && (len(l.text) > 0 || l.err != nil) {
			select {
			case lines <- l:
			case <-ctx.Done():
				return nil
			}
		}
		if end {
			return nil //nolint:nilerr // the end of the input is no failure.
		}
	}
}

// readLine reads to the end of a line; of one that is too long it keeps the beginning only.
func readLine(r *bufio.Reader) (text []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if room := maxLine - len(text); len(part) > room {
			part, long = part[:room], true
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// gather puts lines together to chunks of at most size items and closes chunks when lines ends, or ctx.
func gather[T any](ctx context.Context, lines <-chan line, size int, parse func([]byte) (T, error), chunks chan<- chunk[T]) {
	defer close(chunks)
	for sequence := 0; ; sequence++ {
		c, more := gatherOne(ctx, lines, size, parse)
		c.sequence = sequence
		if c.last > 0 {
			select {
			case chunks <- c:
			case <-ctx.Done():
				return
			}
		}
		if !more {
			return
		}
	}
}

func gatherOne[T any](ctx context.Context, lines <-chan line, size int, parse func([]byte) (T, error)) (c chunk[T], more bool) {
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for bytes := 0; len(c.items)+len(c.refused) < size && bytes < maxChunk; {
		select {
		case <-ctx.Done():
			return c, false
		case <-slow.C:
			if c.last > 0 {
				return c, true
			}
			slow.Reset(patience)
		case l, open := <-lines:
			if !open {
				return c, false
			}
			c.last, bytes = l.number, bytes+len(l.text)
			var item T
			if l.err == nil {
				item, l.err = parse(l.text)
			}
			if l.err != nil {
				c.refused = append(c.refused, failureOf(l.number, l.err))
				continue
			}
			c.items, c.numbers = append(c.items, item), append(c.numbers, l.number)
		}
	}
	return c, true
}

// failure is one line that was refused, here or by the service.
type failure struct {
	Line int `json:"line"`
	// TimerID is empty if the line could not be read.
	TimerID string      `json:"timerId,omitempty"`
	Field   string      `json:"field,omitempty"`
	Code    client.Code `json:"error"`
	Message string      `json:"message"`
}

func (f *failure) String() string {
	return printable(fmt.Sprintf("line %d: %s (%s)", f.Line, f.Message, f.Code))
}

func failureOf(number int, err error) failure {
	f := failure{Line: number, Code: client.CodeInvalidInput, Message: err.Error()}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		f.Field = wrong.Field
		f.Message = fmt.Sprintf("%s: a JSON %s is not accepted: want a %s", or(wrong.Field, "line"), wrong.Value, wrong.Type)
	}
	return f
}

// refusedBy is the service's word on the index-th item of a batch. It names fields by their place in the
// batch, which is of no interest here.
func refusedBy(number, index int, e *client.Error) failure {
	place := fmt.Sprintf("timers[%d]", index)
	bare := func(s string) string { return strings.TrimLeft(strings.TrimPrefix(s, place), ".: ") }
	f := failure{Line: number, Code: e.Code, Message: bare(e.Message)}
	if field, ok := e.Details["field"].(string); ok {
		f.Field = bare(field)
	}
	return f
}

// parseStrictly reads one JSON object. What it does not know is an error: a misspelt field would otherwise
// be a default that nobody chose.
func parseStrictly(text []byte, into any) error {
	if text[0] != '{' {
		return fmt.Errorf(`%q is not accepted: want a JSON object, such as {"id":"order-17","executeIn":"15m"}`, short(string(text), 60))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON object does not end on its line")
		}
		return fmt.Errorf("not accepted: %w", err)
	}
	if dec.More() {
		return errors.New("more than one JSON object on a line")
	}
	return nil
}
