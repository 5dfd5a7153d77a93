// Package record keeps what a test has observed, in order, and lets it wait for more.
//
// It imports the standard library only.
package record

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Record is an append-only list that can be waited on. The zero value is empty and ready.
type Record[T any] struct {
	mu      sync.Mutex
	items   []T
	changed chan struct{} // closed by the next Add; nil while nobody waits
}

// Add appends an item and wakes those who wait.
func (r *Record[T]) Add(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = append(r.items, item)
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// All returns a copy of what is there.
func (r *Record[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.items)
}

// Await returns the first n items that match, as soon as there are so many. When ctx ends first it
// returns those found until then, and an error.
func (r *Record[T]) Await(ctx context.Context, n int, match func(T) bool) ([]T, error) {
	var found []T
	for seen := 0; ; {
		fresh, changed := r.after(seen)
		seen += len(fresh)
		for _, item := range fresh {
			if len(found) < n && match(item) {
				found = append(found, item)
			}
		}
		if len(found) >= n {
			return found, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return found, fmt.Errorf("%d of %d came, among %d observed: %w", len(found), n, seen, context.Cause(ctx))
		}
	}
}

// after returns the items from position i on, and a channel that the next Add closes.
func (r *Record[T]) after(i int) ([]T, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return slices.Clone(r.items[i:]), r.changed
}
