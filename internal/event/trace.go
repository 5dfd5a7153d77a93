package event

import (
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Trace is a W3C trace context. A create carries it, the timer's headers store it, and callbacks and events carry it
// (docs/decisions/0017). internal/tracing replaces it by that of a span, if spans are recorded. The zero value means none.
type Trace struct {
	// Parent is the header traceparent in version 00, State the header tracestate or empty.
	Parent, State string
}

const (
	traceParent = "traceparent"
	traceState  = "tracestate"

	// The spelling of timer.Headers.
	timerParent = "Traceparent"
	timerState  = "Tracestate"

	// parentLength is the length of 00-TRACE-SPAN-FLAGS, with 32, 16 and 2 hex digits.
	parentLength = 2 + 1 + 32 + 1 + 16 + 1 + 2
	// maxState is the minimum length in bytes that the specification requires implementations to propagate.
	maxState = 512
)

// TraceOf parses the two headers. An invalid traceparent means no trace: a command is never refused because of it. An
// invalid tracestate is dropped.
func TraceOf(parent, state string) Trace {
	parent, ok := readParent(parent)
	if !ok {
		return Trace{}
	}
	state = strings.Trim(state, " \t")
	for i := range len(state) {
		if c := state[i]; c < ' ' || c > '~' {
			return Trace{Parent: parent}
		}
	}
	if len(state) > maxState {
		state = ""
	}
	return Trace{Parent: parent, State: state}
}

// readParent checks a traceparent. Of a later version it uses the part that version 00 has.
func readParent(s string) (parent string, ok bool) {
	if len(s) < parentLength || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return "", false
	}
	version, trace, span, flags := s[:2], s[3:35], s[36:52], s[53:parentLength]
	if !hex(version) || !hex(trace) || !hex(span) || !hex(flags) || version == "ff" || zeros(trace) || zeros(span) {
		return "", false
	}
	switch {
	case version == "00":
		return s, len(s) == parentLength
	case len(s) > parentLength && s[parentLength] != '-':
		return "", false
	default:
		return "00" + s[2:parentLength], true
	}
}

func hex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func zeros(s string) bool { return strings.Trim(s, "0") == "" }

// traceOfMessage finds the trace in a message's headers; header names are case-insensitive.
func traceOfMessage(headers map[string]string) Trace {
	var parent, state string
	for name, value := range headers {
		switch {
		case strings.EqualFold(name, traceParent) && value > parent: // of two headers, always the same one
			parent = value
		case strings.EqualFold(name, traceState) && value > state:
			state = value
		}
	}
	return TraceOf(parent, state)
}

// TraceIn returns the trace in a timer's headers.
func TraceIn(h timer.Headers) Trace {
	parent := h.Get(timerParent)
	if parent == "" {
		return Trace{}
	}
	return TraceOf(parent, h.Get(timerState))
}

// Into adds the trace to a timer's headers, unless they contain a trace of the user, or the limits of headers would be
// exceeded.
func (t Trace) Into(h timer.Headers) timer.Headers {
	if t.Parent == "" || h.Get(timerParent) != "" || h.Get(timerState) != "" {
		return h
	}
	fields := []timer.Header{{Name: timerParent, Value: t.Parent}}
	for name, value := range h.All() {
		fields = append(fields, timer.Header{Name: name, Value: value})
	}
	if t.State != "" {
		if all, err := timer.NewHeaders(append(fields, timer.Header{Name: timerState, Value: t.State})); err == nil {
			return all
		}
	}
	if all, err := timer.NewHeaders(fields); err == nil {
		return all
	}
	return h
}

// put adds the trace to a message's headers.
func (t Trace) put(headers map[string]string) {
	if t.Parent == "" {
		return
	}
	headers[traceParent] = t.Parent
	if t.State != "" {
		headers[traceState] = t.State
	}
}
