package relational

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Walk is a way through a table in the order of its key: the index that serves a list.
type Walk int

// The walks. Live timers are ordered by (shard, uuid), finished ones by (shard, uuid, generation, attempt).
const (
	// ByKey passes all live timers.
	ByKey Walk = iota
	// Parked and Retrying pass the timers of that status.
	Parked
	Retrying
	// ByDue passes the live timers in a range of due times, parked ones included: it reads the range of each shard
	// from the index that polls use, which is ordered by due time, and sorts it.
	ByDue
	// ByCorrelation passes the live timers that were given the correlation id.
	ByCorrelation
	// Ended passes all of history, Dead the dead timers in it, EndedByCorrelation what was given the correlation id.
	Ended
	Dead
	EndedByCorrelation
)

// ListLimits bound what one statement of a list reads, so that it takes milliseconds on a table of any size.
type ListLimits struct {
	// Looked is how many rows are looked at for a page whose filter the index does not serve.
	Looked int
	// Sorted is how many index entries of one shard a walk by due time sorts.
	Sorted int
	// Chunk is how many rows one statement returns. Their payloads are in memory together.
	Chunk int
}

// DefaultListLimits are those of the engines.
func DefaultListLimits() ListLimits { return ListLimits{Looked: 2000, Sorted: 20_000, Chunk: 128} }

// Span is a part of a walk: the rows behind From, up to Upto, in shards before End.
type Span struct {
	Walk Walk
	From Place
	Upto Place
	End  int64
}

// Listed is a timer and its place.
type Listed struct {
	At    Place
	Timer timer.Timer
}

// Table is what an engine does for a list of one query. Each method is one statement.
type Table interface {
	// Bound returns the place of the n-th row of the span's walk behind From, in shards before End, whether the row
	// passes the filters or not; none if there are fewer. It reads an index only.
	Bound(ctx context.Context, s Span, n int) (at Place, found bool, err error)
	// Rows returns the first rows of the span that pass the query's filters, at most limit, in the order of their places.
	Rows(ctx context.Context, s Span, limit int) ([]Listed, error)
	// Crowded reports whether a walk by due time has more than n index entries of one shard to sort.
	Crowded(ctx context.Context, id shard.ID, n int) (bool, error)
	// Reach returns the shard in which a walk by due time finds the n-th timer of the span that is not parked; none if
	// there are fewer.
	Reach(ctx context.Context, s Span, n int) (id shard.ID, found bool, err error)
	// ParkedReach returns the shard of the span in which the n-th parked timer is, in or out of the range of due times.
	ParkedReach(ctx context.Context, s Span, n int) (id shard.ID, found bool, err error)
	// Made returns the timer, if it passes the filters, whose correlation id was not given but made from its uuid.
	Made(ctx context.Context, uuid timer.UUID) ([]Listed, error)
}

// Lister reads one page of a list from a table.
type Lister struct {
	Query   *store.ListQuery
	Cursors Cursors
	Limits  ListLimits
	Table   Table
}

// Page reads the page behind a place.
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
		// One more than the page holds shows whether there is a next one.
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

// span chooses the walk, and where it ends at the latest.
func (l *Lister) span(ctx context.Context, from Place) (Span, error) {
	s := Span{Walk: l.walk(), From: from, Upto: BehindAll(), End: l.end()}
	if s.Walk != ByDue {
		return s, nil
	}
	// A walk by due time sorts what it finds, so it covers no more shards than a page needs. Of a shard with too much
	// to sort, so many timers are listed that a walk by key soon finds some.
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
	// Parked timers are few, as a rule, and none of the index is by their due time.
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
	case q.Status == timer.StatusParked:
		return Parked
	case q.Status == timer.StatusRetrying:
		return Retrying
	case q.DueFrom != 0 || q.DueBefore != 0:
		return ByDue
	default:
		return ByKey
	}
}

// serves reports whether the index of a walk serves the whole query, so that every row that it leads to is listed.
func (l *Lister) serves(w Walk) bool {
	q := l.Query
	all := q.DueFrom == 0 && q.DueBefore == 0
	switch w {
	case Parked, Retrying:
		return all
	case ByDue:
		// Of parked timers it looks at every row, but span bounds their number.
		return q.Status == ""
	case ByKey, ByCorrelation:
		return all && q.Status == ""
	default:
		return false // history that has expired is not listed
	}
}

// read reads a part of the span. cut means that there may be rows behind span.Upto.
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

// end is the first shard number behind the namespace's block.
func (l *Lister) end() int64 {
	return int64(l.Query.Namespace.Shards.Base) + int64(l.Query.Namespace.Shards.Count)
}

func (l *Lister) at(p Place) store.Cursor { return l.Cursors.At(p, l.Query.Status.Finished()) }

// merge puts those of made that lie in the span among what was found in it.
func merge(found, made []Listed, s Span) []Listed {
	for _, m := range made {
		if m.At.Compare(s.From) > 0 && m.At.Compare(s.Upto) <= 0 {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b Listed) int { return a.At.Compare(b.At) })
	return found
}

// page is filled up to the limit of timers and of bytes.
type page struct {
	store.Page

	l     *Lister
	bytes store.PageBytes
	last  Place
}

// take adds timers. It returns false, and sets Next, when the page has no room for one.
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
