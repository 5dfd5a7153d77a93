package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// chunksOf reads in as the batch commands do; lines with the text "bad" are refused.
func chunksOf(t *testing.T, in io.Reader, from, size int) (chunks []chunk[string], err error) {
	t.Helper()
	lines, out, failed := make(chan line), make(chan chunk[string]), make(chan error, 1)
	go func() {
		failed <- readLines(t.Context(), in, from, lines)
		close(lines)
	}()
	go gather(t.Context(), lines, size, func(text []byte) (string, error) {
		if string(text) == "bad" {
			return "", errors.New("it is bad")
		}
		return string(text), nil
	}, out)
	for c := range out {
		chunks = append(chunks, c)
	}
	return chunks, <-failed
}

func TestLinesBecomeChunks(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	in := "one\n\n  two\r\nbad\n" + long + "\n\xff\nseven\neight"
	chunks, err := chunksOf(t, strings.NewReader(in), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range chunks {
		shown := fmt.Sprint(c.sequence, " ", c.items, c.numbers, " to ", c.last)
		for _, f := range c.refused {
			shown += ", " + f.String()
		}
		got = append(got, shown)
	}
	want := []string{
		"0 [one two] [1 3] to 4, line 4: it is bad (INVALID_INPUT)",
		fmt.Sprintf("1 [seven] [7] to 7, line 5: a line of more than %d bytes is not accepted (INVALID_INPUT), line 6: not UTF-8 (INVALID_INPUT)", maxLine),
		"2 [eight] [8] to 8",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if chunks, err = chunksOf(t, strings.NewReader(in), 8, 3); err != nil || len(chunks) != 1 || chunks[0].numbers[0] != 8 {
		t.Errorf("from line 8: %+v, %v", chunks, err)
	}
	if chunks, err = chunksOf(t, strings.NewReader("\n\n"), 1, 3); err != nil || len(chunks) != 0 {
		t.Errorf("of nothing: %+v, %v", chunks, err)
	}
}

func TestAnInputThatBreaks(t *testing.T) {
	broken := errors.New("disk gone")
	chunks, err := chunksOf(t, io.MultiReader(strings.NewReader("one\ntwo\nthr"), &brokenReader{broken}), 1, 10)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 3") || len(chunks) != 1 || len(chunks[0].items) != 2 {
		t.Errorf("%+v, %v", chunks, err)
	}
}

type brokenReader struct{ err error }

func (r *brokenReader) Read([]byte) (int, error) { return 0, r.err }

// Lines of a slow input are sent before a batch is full.
func TestASlowInputIsSentAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines, out := make(chan line), make(chan chunk[string])
		ctx, cancel := context.WithCancel(t.Context())
		go gather(ctx, lines, 100, func(text []byte) (string, error) { return string(text), nil }, out)
		time.Sleep(10 * patience) // in a bubble
		start := time.Now()
		lines <- line{number: 1, text: []byte("one")}
		if c := <-out; c.last != 1 || time.Since(start) > patience {
			t.Errorf("%+v after %v", c, time.Since(start))
		}
		cancel()
		if c, open := <-out; open {
			t.Errorf("after its end came %+v", c)
		}
	})
}

func TestLinesAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"a","executeIn":"1s"}`: "",
		`"a"`:                         `want a JSON object, such as {"id":"order-17"}`,
		`{"id":"a"`:                   "does not end on its line",
		`{"id":"a"} {}`:               "more than one JSON object",
		`{"id":"a","callbackURI":""}`: `unknown field "callbackURI"`,
		`{"id":5}`:                    "id: a JSON number is not accepted: want a string",
		`{"executeAt":"tomorrow"}`:    "tomorrow",
	} {
		var r client.CreateTimerRequest
		err := parseStrictly([]byte(text), &r, `{"id":"order-17"}`)
		if err == nil {
			if want != "" {
				t.Errorf("%s is accepted", text)
			}
			continue
		}
		if f := failureOf(7, err); want == "" || !strings.Contains(f.String(), want) || !strings.HasPrefix(f.String(), "line 7: ") {
			t.Errorf("%s: %s, want %q", text, &f, want)
		}
	}
}

func FuzzParseStrictly(f *testing.F) {
	f.Add([]byte(`{"id":"a","executeIn":"1s","payload":{"a":[1,2]}}`))
	f.Add([]byte(`{"id":null,"retryPolicy":{"maxAttempts":3}}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 {
			return // parseStrictly is never called with an empty line
		}
		var r client.CreateTimerRequest
		if parseStrictly(text, &r, "") == nil && text[0] != '{' {
			t.Errorf("%q is accepted", text)
		}
	})
}

func TestRefusedByNamesTheField(t *testing.T) {
	f := refusedBy(40, "timers[7]", &client.Error{
		Code: client.CodeInvalidInput, Message: `timers[7].callbackUrl: "x" is not accepted`,
		Details: map[string]any{"field": "timers[7].callbackUrl"},
	})
	if f != (failure{Line: 40, Field: "callbackUrl", Code: client.CodeInvalidInput, Message: `callbackUrl: "x" is not accepted`}) {
		t.Errorf("%+v", f)
	}
	f = refusedBy(40, "timers[7]", &client.Error{Code: client.CodeTimerNotFound, Message: "there is none\x1b[2J"})
	if got := f.String(); got != "line 40: there is none·[2J (TIMER_NOT_FOUND)" {
		t.Errorf("%q", got)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s", n, got)
		}
	}
}
