package memstore

import (
	"iter"
	"slices"
	"sort"
)

// chunkSize bounds how many entries one insert moves in memory.
const chunkSize = 256

// sorted is an ordered map. It is a list of chunks: an insert moves at most the tail of one chunk, so an insert costs
// about the same with a hundred thousand values as with ten, and iteration reads slices. The zero value is empty. It
// must not be changed during an iteration.
type sorted[K interface{ Compare(K) int }, V any] struct {
	chunks [][]entry[K, V] // none is empty
	len    int
}

type entry[K, V any] struct {
	key   K
	value V
}

// find returns the position of the first entry with key ≥ k. If there is none, that is the position after the last
// entry.
func (s *sorted[K, V]) find(k K) (chunk, at int, exact bool) {
	chunk = sort.Search(len(s.chunks), func(i int) bool {
		c := s.chunks[i]
		return c[len(c)-1].key.Compare(k) >= 0
	})
	if chunk == len(s.chunks) {
		return chunk, 0, false
	}
	at, exact = slices.BinarySearchFunc(s.chunks[chunk], k, func(e entry[K, V], k K) int {
		return e.key.Compare(k)
	})
	return chunk, at, exact
}

func (s *sorted[K, V]) get(k K) (V, bool) {
	chunk, at, exact := s.find(k)
	if !exact {
		var none V
		return none, false
	}
	return s.chunks[chunk][at].value, true
}

// set inserts a value, or replaces the value of the same key.
func (s *sorted[K, V]) set(k K, v V) {
	chunk, at, exact := s.find(k)
	if exact {
		s.chunks[chunk][at].value = v
		return
	}
	s.len++
	if chunk == len(s.chunks) {
		if chunk == 0 {
			s.chunks = append(s.chunks, []entry[K, V]{{k, v}})
			return
		}
		chunk--
		at = len(s.chunks[chunk])
	}
	c := slices.Insert(s.chunks[chunk], at, entry[K, V]{k, v})
	s.chunks[chunk] = c
	if len(c) > chunkSize {
		half := slices.Clone(c[len(c)/2:])
		clear(c[len(c)/2:])
		s.chunks[chunk] = c[:len(c)/2]
		s.chunks = slices.Insert(s.chunks, chunk+1, half)
	}
}

func (s *sorted[K, V]) remove(k K) {
	chunk, at, exact := s.find(k)
	if !exact {
		return
	}
	s.len--
	if len(s.chunks[chunk]) == 1 {
		s.chunks = slices.Delete(s.chunks, chunk, chunk+1)
		return
	}
	s.chunks[chunk] = slices.Delete(s.chunks[chunk], at, at+1)
}

// below counts the entries with key < k.
func (s *sorted[K, V]) below(k K) int {
	chunk, at, _ := s.find(k)
	n := at
	for _, c := range s.chunks[:chunk] {
		n += len(c)
	}
	return n
}

// all iterates over all entries, in order.
func (s *sorted[K, V]) all() iter.Seq2[K, V] { return s.walk(0, 0) }

// after iterates over the entries with key > k, in order.
func (s *sorted[K, V]) after(k K) iter.Seq2[K, V] {
	chunk, at, exact := s.find(k)
	if exact {
		at++
	}
	return s.walk(chunk, at)
}

func (s *sorted[K, V]) walk(chunk, at int) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for ; chunk < len(s.chunks); chunk, at = chunk+1, 0 {
			for _, e := range s.chunks[chunk][at:] {
				if !yield(e.key, e.value) {
					return
				}
			}
		}
	}
}

// before iterates over the entries with key < k, in reverse order.
func (s *sorted[K, V]) before(k K) iter.Seq2[K, V] {
	chunk, at, _ := s.find(k)
	return func(yield func(K, V) bool) {
		for {
			for at--; at >= 0; at-- {
				e := s.chunks[chunk][at]
				if !yield(e.key, e.value) {
					return
				}
			}
			if chunk == 0 {
				return
			}
			chunk--
			at = len(s.chunks[chunk])
		}
	}
}
