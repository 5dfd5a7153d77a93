package event_test

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

func seed(f *testing.F) {
	f.Helper()
	f.Add("content-type", "application/json", "ce-id", "%31", "ce_type", "t", []byte(minimal))
	f.Add("ce_specversion", "1.0", "ce_id", "1", "ce_type", event.TypeCreate, []byte(`{"a":1}`))
	f.Add("ce-specversion", "1.0", "ce-source", `"a\"b"`, "ce-type", event.TypeUpdate, []byte(`{}`))
	f.Add("traceparent", parent, "Tracestate", state, "", "", []byte(minimal))
	f.Add("", "", "", "", "", "", []byte(`{"specversion":"1.0","time":"2026-01-01T00:00:00Z","correlationid":null,"data":1e400}`))
}

// FuzzDecode: no bytes make Decode panic, every accepted attribute is valid, and encoding an accepted event in either
// mode and decoding it results in the same event.
func FuzzDecode(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2, name3, value3 string, body []byte) {
		headers := map[string]string{name1: value1, name2: value2, name3: value3}
		e, err := event.Decode(headers, body)
		for _, attribute := range []string{e.ID, e.Source, e.Type, e.Subject, e.CorrelationID} {
			if !utf8.ValidString(attribute) || len(attribute) > 1024 {
				t.Errorf("attribute %q came through", attribute)
			}
		}
		if err != nil {
			return
		}
		if len(e.Data) == 0 {
			e.Data = nil
		}
		compacted, err := event.New(e.Type, e.Source, e.ID, e.Subject, e.CorrelationID, e.Time, e.Data)
		if err != nil {
			t.Fatalf("an accepted event cannot be written: %v", err)
		}
		if e.Data == nil {
			compacted.Data = nil
		}
		compacted.Trace = e.Trace
		for _, mode := range []event.Mode{event.Structured, event.Binary} {
			headers, body, err := compacted.Encode(mode)
			if err != nil {
				t.Fatal(err)
			}
			back, err := event.Decode(headers, body)
			if err != nil || !same(&back, &compacted) {
				t.Errorf("mode %d: %+v came back as %+v, %v", mode, compacted, back, err)
			}
		}
	})
}

func FuzzParseCommand(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2, name3, value3 string, body []byte) {
		headers := map[string]string{name1: value1, name2: value2, name3: value3}
		c, err := event.ParseCommand(headers, body)
		if err == nil && (c.Verb == "" || c.ID == "") {
			t.Errorf("accepted %+v", c)
		}
		// Whatever the command was, the answer that refuses it can be published.
		refusal := event.Answer{CommandID: c.ID, Verb: c.Verb, Error: "INVALID_INPUT", Message: "no"}
		e, err := event.AnswerOf("me", &refusal, c.CorrelationID, at)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.Encode(event.Structured); err != nil {
			t.Errorf("the answer to %+v cannot be written: %v", c, err)
		}
	})
}

// known returns the part of a message that was decoded: an earlier release wrote no target, and a later one may have
// appended fields.
func known(written []byte, target timer.Target) []byte {
	if target == 0 {
		return written[:len(written)-8]
	}
	return written
}

func FuzzUnmarshalDue(f *testing.F) {
	f.Add(event.MarshalDue(event.Due{Shard: 1, UUID: timer.UUIDOf(ns, id), DueAt: at, Attempt: -1}))
	f.Add([]byte{1})
	f.Add(append(event.MarshalDue(event.Due{Shard: 2}), "a later field"...))
	f.Add([]byte{0x11, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := event.UnmarshalDue(b)
		switch {
		case err == nil && !bytes.HasPrefix(b, known(event.MarshalDue(d), d.Target)):
			t.Errorf("%x read as %+v, written as %x", b, d, event.MarshalDue(d))
		case errors.Is(err, event.ErrUnknown) && b[0] == event.MarshalDue(event.Due{})[0]:
			t.Errorf("%x is of today's kind and version: %v", b, err)
		}
	})
}

func FuzzUnmarshalHint(f *testing.F) {
	f.Add(event.MarshalHint(event.Hint{Shard: 1, UUID: timer.UUIDOf(ns, id), DueAt: at, UpdatedAt: -1}))
	f.Add([]byte{2})
	f.Add(append(event.MarshalHint(event.Hint{Shard: 2}), "a later field"...))
	f.Add([]byte{0x12, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := event.UnmarshalHint(b)
		switch {
		case err == nil && !bytes.HasPrefix(b, known(event.MarshalHint(h), h.Target)):
			t.Errorf("%x read as %+v, written as %x", b, h, event.MarshalHint(h))
		case errors.Is(err, event.ErrUnknown) && b[0] == event.MarshalHint(event.Hint{})[0]:
			t.Errorf("%x is of today's kind and version: %v", b, err)
		}
	})
}
