package main

import (
	"bufio"
	"bytes"
	"cmp"
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
	// maxLine is far larger than a timer with the largest payload, in bytes.
	maxLine = 4 * timer.MaxPayload
	// maxChunk limits the lines of one batch, in bytes. The service accepts 8 MiB by default.
	maxChunk = 4 << 20
	// patience is approximately how long gatherOne waits for a slow input to fill a batch.
	patience = time.Second
)

// line is one line of the input that is not empty.
type line struct {
	number int
	text   []byte
	err    error // why it could not be read
}

// chunk is the content of one request.
type chunk[T any] struct {
	sequence int // 0, 1, 2, … in the order of the input
	last     int // number of the last line that is in the chunk or was refused
	items    []T
	numbers  []int // line numbers of the items
	refused  []failure
}

// readLines sends the lines from number from on to lines. It returns when the input ends, when it cannot be read, or
// when ctx ends. Callers must not wait for it: a read from a terminal or a pipe cannot be interrupted.
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
			return nil //nolint:nilerr // the end of the input is not an error.
		}
	}
}

// readLine reads to the end of a line. If the line is longer than maxLine, it returns only the beginning.
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

// gather groups lines into chunks of at most size items. It closes chunks when lines is closed or ctx ends.
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

// failure is one line that was refused by this program or by the service.
type failure struct {
	Line int `json:"line"`
	// TimerID or ScheduleID is set unless the line could not be parsed.
	TimerID    string      `json:"timerId,omitempty"`
	ScheduleID string      `json:"scheduleId,omitempty"`
	Field      string      `json:"field,omitempty"`
	Code       client.Code `json:"error"`
	Message    string      `json:"message"`
}

func (f *failure) String() string {
	return printable(fmt.Sprintf("line %d: %s (%s)", f.Line, f.Message, f.Code))
}

func failureOf(number int, err error) failure {
	f := failure{Line: number, Code: client.CodeInvalidInput, Message: err.Error()}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		f.Field = wrong.Field
		f.Message = fmt.Sprintf("%s: a JSON %s is not accepted: want a %s", cmp.Or(wrong.Field, "line"), wrong.Value, wrong.Type)
	}
	return f
}

// name sets the id of the timer or schedule.
func (f *failure) name(noun, id string) {
	if noun == "schedule" {
		f.ScheduleID = id
	} else {
		f.TimerID = id
	}
}

// refusedBy converts the service's error about an item of a batch. It removes the place of the item in the batch, such as timers[7],
// from field names and messages, because it means nothing to the user.
func refusedBy(number int, place string, e *client.Error) failure {
	bare := func(s string) string { return strings.TrimLeft(strings.TrimPrefix(s, place), ".: ") }
	f := failure{Line: number, Code: e.Code, Message: bare(e.Message)}
	if field, ok := e.Details["field"].(string); ok {
		f.Field = bare(field)
	}
	return f
}

// parseStrictly parses one JSON object. Unknown fields are errors: a misspelt field would otherwise silently get its
// default. The error for a text that is no object contains an example.
func parseStrictly(text []byte, into any, example string) error {
	if text[0] != '{' {
		return fmt.Errorf("%q is not accepted: want a JSON object, such as %s", short(string(text), 60), example)
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
