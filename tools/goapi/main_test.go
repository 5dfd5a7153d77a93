package main

import (
	"slices"
	"testing"
)

func TestExported(t *testing.T) {
	lines, err := exported("./testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "tools/goapi/testdata/sample: "
	want := []string{
		"const Limit untyped int = 3",
		"func Open(name string) (*Store, error)",
		"type Name = string",
		"type Pair[K comparable, V any] struct",
		"type Pair field Key K",
		"type Pair field Value V",
		"type Reader interface",
		"type Reader method Read(name string) (any, error)",
		"type Store field Options encoding/json.Decoder",
		"type Store method Read(name string) (any, error)",
		"type Store struct",
		"var ErrGone error",
	}
	for i := range want {
		want[i] = prefix + want[i]
	}
	slices.Sort(want)
	for i := range lines {
		lines[i] = "tools/" + lines[i]
	}
	if !slices.Equal(lines, want) {
		t.Errorf("lines:\n%q\nwant:\n%q", lines, want)
	}
}

func TestExportedRefusesPatternsWithoutPublicPackages(t *testing.T) {
	for _, pattern := range []string{"./testdata/sample/internal/hidden", "./testdata/missing"} {
		if lines, err := exported(pattern); err == nil {
			t.Errorf("%s: %q, want an error", pattern, lines)
		}
	}
}
