package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadValue: a value that is too long is an error; a part of it would be another value.
func TestReadValue(t *testing.T) {
	file := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	largest := strings.Repeat("x", longestInput)
	for name, c := range map[string]struct{ given, stdin, want, err string }{
		"text":            {given: "plain", want: "plain"},
		"file":            {given: "@" + file, want: "from a file\n"},
		"missing file":    {given: "@" + file + "s", err: "no such file"},
		"input":           {given: "-", stdin: "from the input", want: "from the input"},
		"largest input":   {given: "-", stdin: largest, want: largest},
		"input too large": {given: "-", stdin: largest + "x", err: "more than 1048576 bytes"},
		"empty":           {given: "", want: ""},
	} {
		got, err := readValue(c.given, strings.NewReader(c.stdin))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
		case err != nil || string(got) != c.want:
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}
