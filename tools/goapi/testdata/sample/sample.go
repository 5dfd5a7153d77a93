// Package sample has one identifier of each kind.
package sample

import (
	"encoding/json"
	"errors"
)

// Limit is a constant.
const Limit = 3

const hidden = 4

// ErrGone is a variable.
var ErrGone = errors.New("gone")

// Name is an alias.
type Name = string

// Reader is an interface.
type Reader interface {
	Read(name string) (any, error)
}

// Pair has type parameters.
type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

// Store is a struct with a method.
type Store struct {
	Options json.Decoder

	size int
}

// Read implements Reader.
func (s *Store) Read(name string) (any, error) { return s.size + hidden, nil }

func (s *Store) grow() { s.size++ }

// Open is a function.
func Open(name string) (*Store, error) {
	s := &Store{}
	s.grow()
	return s, nil
}
