package engine

import "github.com/timerbus/timerbus/pkg/store"

// Forget answers the items of store.Outcomes.Forget. ends has the unexpired final outcomes, and whether each has an outbox
// entry. gone are the generations to remove from history, without duplicates.
func Forget(items []store.Forget, ends map[store.Forget]bool) (out []error, gone []store.Forget) {
	out = make([]error, len(items))
	for i, item := range items {
		switch marked, found := ends[item]; {
		case !found:
			out[i] = store.ErrNotFound
		case marked:
			out[i] = store.ErrConflict
		default:
			delete(ends, item)
			gone = append(gone, item)
		}
	}
	return out, gone
}
