package store

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Filters is a set of the filters of a list.
type Filters struct {
	// Status is ListQuery.Status, CorrelationID is ListQuery.CorrelationID, and Due is DueFrom and DueBefore.
	Status, CorrelationID, Due bool
}

// AllFilters returns the set of all filters.
func AllFilters() Filters { return Filters{Status: true, CorrelationID: true, Due: true} }

// Check returns ErrInvalid if the query has a filter that is not in the set. The wrapped timer.InvalidError names it.
func (f Filters) Check(q *ListQuery) error {
	for _, filter := range []struct {
		field     string
		value     any
		supported bool
	}{
		{"status", string(q.Status), f.Status || q.Status == ""},
		{"correlationId", q.CorrelationID, f.CorrelationID || q.CorrelationID == ""},
		{"dueFrom", q.DueFrom, f.Due || q.DueFrom == 0},
		{"dueBefore", q.DueBefore, f.Due || q.DueBefore == 0},
	} {
		if !filter.supported {
			bad := timer.Invalid(filter.field, filter.value, "no "+filter.field+", because the store does not support this filter")
			return fmt.Errorf("%w: %w", ErrInvalid, bad)
		}
	}
	return nil
}

// DeclaredFilters is an optional capability, found through As, of engines that declare the filters of lists that they
// support. An engine without an index for a filter may leave it out, and its List then answers as Filters.Check does.
//
// PostgreSQL, SQLite, DynamoDB: all.
type DeclaredFilters interface {
	ListFilters() Filters
}

// ListFilters returns the filters that a store supports. A store without DeclaredFilters supports all.
func ListFilters(s Store) Filters {
	if power, ok := As[DeclaredFilters](s); ok {
		return power.ListFilters()
	}
	return AllFilters()
}
