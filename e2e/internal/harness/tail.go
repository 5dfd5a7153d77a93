package harness

import (
	"bytes"
	"sync"
)

// tailSize bounds how much output of a process is kept, in bytes.
const tailSize = 512 << 10

// tail keeps the end of the output.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if excess := len(t.text) - tailSize; excess > tailSize {
		t.text = append([]byte(nil), t.text[excess:]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns the end of the output, in whole lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text
	if t.cut {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return string(text)
}
