package timerbus_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReleaseFlags: releases and `make image-files` do not inline the functions of the same packages; otherwise the same commit would
// not give the same binary.
func TestReleaseFlags(t *testing.T) {
	text := func(file string) string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	_, list, _ := strings.Cut(text("Makefile"), "\nNOT_INLINED := ")
	list, _, _ = strings.Cut(list, "\nSMALL")
	want := strings.Fields(strings.ReplaceAll(list, "\\\n", " "))
	var got []string
	for _, match := range regexp.MustCompile(`(?m)^ +- (\S+)=-l$`).FindAllStringSubmatch(text(".goreleaser.yaml"), -1) {
		got = append(got, match[1])
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("gcflags of .goreleaser.yaml are for %q, NOT_INLINED of the Makefile is %q", got, want)
	}
}
