// Package record keeps the observations of a test in order, and lets the test wait for more.
//
// It imports the standard library only.
package record

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Record is an append-only list with a wait function. The zero value is empty and ready to use.
type Record[T any] struct {
	mu      sync.Mutex
	items   []T
	changed chan struct{} // closed by the next Add; nil while no caller waits
}

// Add appends an item and wakes waiting callers.
func (r *Record[T]) Add(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = append(r.items, item)
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// All returns a copy of the items.
func (r *Record[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.items)
}

// Await returns the first n matching items as soon as they exist. If ctx ends first, it returns the items found so far
// and an error.
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
			return found, fmt.Errorf("found %d of %d, observed %d: %w", len(found), n, seen, context.Cause(ctx))
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
