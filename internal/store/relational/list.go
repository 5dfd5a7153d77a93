package relational

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Walk is the index through which a list reads a table. Rows are returned in the order of the table's key.
type Walk int

// Live timers are ordered by (shard, uuid), finished ones by (shard, uuid, generation, attempt).
const (
	// ByKey reads all live timers.
	ByKey Walk = iota
	// Parked reads the parked and paused timers, Retrying those with that status.
	Parked
	Retrying
	// ByDue reads the live timers in a range of due times, parked ones included: it reads the range of each shard from
	// the index that polls use, which is ordered by due time, and sorts it.
	ByDue
	// ByCorrelation reads the live timers with an explicit correlation id.
	ByCorrelation
	// Ended reads all history, Dead its dead timers, and EndedByCorrelation its timers with an explicit correlation id.
	Ended
	Dead
	EndedByCorrelation
)

// ListLimits bound what one statement of a list reads, so that it takes milliseconds on a table of any size.
type ListLimits struct {
	// Looked is how many rows a page reads at most if the index does not serve its filter.
	Looked int
	// Sorted is how many index entries of one shard a walk by due time sorts at most.
	Sorted int
	// Chunk is how many rows one statement returns at most. Their payloads are in memory at the same time.
	Chunk int
}

// DefaultListLimits returns the limits that the engines use.
func DefaultListLimits() ListLimits { return ListLimits{Looked: 2000, Sorted: 20_000, Chunk: 128} }

// Span is a part of a walk: the rows after From, up to Upto, in shards before End.
type Span struct {
	Walk Walk
	From Place
	Upto Place
	End  int64
}

// Listed is a timer and its position.
type Listed struct {
	At    Place
	Timer timer.Timer
}

// Table is the engine's part of a list of one query. Each method is one statement.
type Table interface {
	// Bound returns the position of the n-th row of the span's walk after From, in shards before End, whether or not
	// the row matches the filters. found is false if there are fewer rows. It reads an index only.
	Bound(ctx context.Context, s Span, n int) (at Place, found bool, err error)
	// Rows returns the first rows of the span that match the query's filters, at most limit, ordered by position.
	Rows(ctx context.Context, s Span, limit int) ([]Listed, error)
	// Crowded reports whether a walk by due time would sort more than n index entries of the shard.
	Crowded(ctx context.Context, id shard.ID, n int) (bool, error)
	// Reach returns the shard in which a walk by due time finds the n-th timer of the span that is not parked. found is
	// false if there are fewer.
	Reach(ctx context.Context, s Span, n int) (id shard.ID, found bool, err error)
	// ParkedReach returns the shard of the span that has the n-th parked timer, whether or not its due time is in the
	// range.
	ParkedReach(ctx context.Context, s Span, n int) (id shard.ID, found bool, err error)
	// Made returns the timer whose correlation id was generated from this uuid, because none was given, if it matches
	// the filters.
	Made(ctx context.Context, uuid timer.UUID) ([]Listed, error)
}

// Lister reads one page of a list from a table.
type Lister struct {
	Query   *store.ListQuery
	Cursors Cursors
	Limits  ListLimits
	Table   Table
}

// Page reads the page after a position.
func (l *Lister) Page(ctx context.Context, from Place) (store.Page, error) {
	made, err := l.made(ctx)
	if err != nil {
		return store.Page{}, err
	}
	span, err := l.span(ctx, from)
	if err != nil {
		return store.Page{}, err
	}
	p := page{l: l, last: from}
	for {
		// One row more than the page has shows whether there is a next page.
		limit := min(l.Limits.Chunk, l.Query.Limit+1-len(p.Timers))
		found, cut, err := l.read(ctx, &span, limit)
		if err != nil {
			return store.Page{}, err
		}
		full := len(found) == limit
		if full {
			span.Upto = found[limit-1].At
		}
		if !p.take(merge(found, made, span)) {
			break
		}
		switch {
		case full:
			span.From = span.Upto
			continue
		case cut:
			p.Next = l.at(span.Upto)
		case span.End < l.end():
			p.Next = l.at(before(shard.ID(span.End)))
		}
		break
	}
	return p.Page, nil
}

// span chooses the walk and its end.
func (l *Lister) span(ctx context.Context, from Place) (Span, error) {
	s := Span{Walk: l.walk(), From: from, Upto: BehindAll(), End: l.end()}
	if s.Walk != ByDue {
		return s, nil
	}
	// A walk by due time sorts the rows that it finds, so it covers no more shards than a page needs. If a shard has
	// too many rows to sort, a walk by key soon finds some that match.
	alone := Span{Walk: ByKey, From: from, Upto: BehindAll(), End: int64(from.Shard) + 1}
	crowded, err := l.Table.Crowded(ctx, from.Shard, l.Limits.Sorted)
	if err != nil || crowded {
		return alone, err
	}
	last, found, err := l.Table.Reach(ctx, s, l.Query.Limit+1)
	if err != nil {
		return s, err
	}
	if found {
		s.End = int64(last) + 1
		if last != from.Shard {
			if crowded, err = l.Table.Crowded(ctx, last, l.Limits.Sorted); err != nil {
				return s, err
			}
			if crowded {
				s.End = int64(last)
			}
		}
	}
	// There are usually few parked timers, and no index orders them by due time.
	last, found, err = l.Table.ParkedReach(ctx, s, l.Limits.Looked)
	switch {
	case err != nil || !found:
		return s, err
	case last == from.Shard:
		return alone, nil
	default:
		s.End = int64(last)
		return s, nil
	}
}

func (l *Lister) walk() Walk {
	q := l.Query
	switch {
	case q.Status.Finished() && q.CorrelationID != "":
		return EndedByCorrelation
	case q.Status == timer.StatusDead:
		return Dead
	case q.Status.Finished():
		return Ended
	case q.CorrelationID != "":
		return ByCorrelation
	case q.Status.Held():
		return Parked
	case q.Status == timer.StatusRetrying:
		return Retrying
	case q.DueFrom != 0 || q.DueBefore != 0:
		return ByDue
	default:
		return ByKey
	}
}

// serves reports whether the index of a walk serves the whole query, so that every row that it reads matches.
func (l *Lister) serves(w Walk) bool {
	q := l.Query
	all := q.DueFrom == 0 && q.DueBefore == 0
	switch w {
	case Retrying:
		return all
	case ByDue:
		// It reads every parked timer, but span bounds their number.
		return q.Status == ""
	case ByKey, ByCorrelation:
		return all && q.Status == ""
	default:
		return false // expired history does not match, and Parked reads parked and paused timers
	}
}

// read reads a part of the span. cut is set if there may be rows after span.Upto.
func (l *Lister) read(ctx context.Context, s *Span, limit int) (found []Listed, cut bool, err error) {
	s.Upto = BehindAll()
	if !l.serves(s.Walk) {
		at, more, err := l.Table.Bound(ctx, *s, l.Limits.Looked)
		if err != nil {
			return nil, false, err
		}
		if more {
			s.Upto, cut = at, true
		}
	}
	found, err = l.Table.Rows(ctx, *s, limit)
	return found, cut, err
}

func (l *Lister) made(ctx context.Context) ([]Listed, error) {
	uuid, ok := timer.ParseUUID(l.Query.CorrelationID)
	if !ok || uuid.String() != l.Query.CorrelationID {
		return nil, nil
	}
	return l.Table.Made(ctx, uuid)
}

// end returns the first shard number after the namespace's block.
func (l *Lister) end() int64 {
	return int64(l.Query.Namespace.Shards.Base) + int64(l.Query.Namespace.Shards.Count)
}

func (l *Lister) at(p Place) store.Cursor { return l.Cursors.At(p, l.Query.Status.Finished()) }

// merge inserts those of made that are in the span into found, in order.
func merge(found, made []Listed, s Span) []Listed {
	for _, m := range made {
		if m.At.Compare(s.From) > 0 && m.At.Compare(s.Upto) <= 0 {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b Listed) int { return a.At.Compare(b.At) })
	return found
}

// page is a page of a list. The limits are a number of timers and a number of bytes.
type page struct {
	store.Page

	l     *Lister
	bytes store.PageBytes
	last  Place
}

// take adds timers. If the page has no room for one of them, it sets Next and returns false.
func (p *page) take(found []Listed) bool {
	for i := range found {
		if len(p.Timers) == p.l.Query.Limit || !p.bytes.Fits(&found[i].Timer) {
			p.Next = p.l.at(p.last)
			return false
		}
		p.Timers = append(p.Timers, found[i].Timer)
		p.last = found[i].At
	}
	return true
}
