package enginetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Vector is a public message from schemas/testdata.
type Vector struct {
	Name    string // of the file
	Headers map[string]string
	Body    []byte
}

// The forms of a message. In the binary form the body is the data; in the structured form it is the whole event.
const (
	Binary     = "binary"
	Structured = "structured"
)

// Vectors reads the public messages in one form. The folder is relative to the test.
func Vectors(tb testing.TB, folder, form string) []Vector {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var vectors []Vector
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var forms map[string]json.RawMessage
		var message struct {
			Headers map[string]string `json:"headers"`
			Body    string            `json:"body"`
		}
		if json.Unmarshal(text, &forms) != nil || json.Unmarshal(forms[form], &message) != nil || message.Headers == nil {
			continue // a vector of something else
		}
		vectors = append(vectors, Vector{Name: filepath.Base(file), Headers: message.Headers, Body: []byte(message.Body)})
	}
	if len(vectors) < 13 {
		tb.Fatalf("%s has only %d messages in the %s form", folder, len(vectors), form)
	}
	return vectors
}
