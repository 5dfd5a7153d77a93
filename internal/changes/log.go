package changes

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Type is what happened to a timer or a schedule.
type Type string

// Changes by clients.
const (
	Created  Type = "created"
	Replaced Type = "replaced"
	Updated  Type = "updated"
	Deleted  Type = "deleted"
	Paused   Type = "paused"
	Resumed  Type = "resumed"
	Retried  Type = "retried" // a timer that was finished or parked was started again
	Purged   Type = "purged"  // a finished timer was removed from history
)

// Changes by dispatchers. A schedule that is due is rescheduled, or done if it has ended.
const (
	Done        Type = "done"
	Rescheduled Type = "rescheduled"
	Failed      Type = "failed"
	Dead        Type = "dead"
	Parked      Type = "parked"
)

// Change is a write that the store has confirmed, or a final outcome whose answer was lost and whose row is gone.
type Change struct {
	Type Type
	// Namespace and ID are those of the row, which may be that of a schedule.
	Namespace, ID string
	// Status and Generation are those after the change, or before a removal. Status is empty if it is not known.
	Status     timer.Status
	Generation timer.Generation
	At         timer.Millis
}

// size is the memory of an entry.
func (c *Change) size() int { return int(unsafe.Sizeof(*c)) + len(c.Namespace) + len(c.ID) }

// Position is the number of changes that were added before it. It belongs to one Log.
type Position uint64

// Log is a bounded log of changes. All methods are safe for concurrent use. A nil *Log drops what is added.
type Log struct {
	id    uint64
	limit int

	mu      sync.Mutex
	entries []Change // entries[:dropped] are dropped
	dropped int
	bytes   int
	end     Position      // after the last entry
	added   chan struct{} // closed by the next Add; nil if no reader waits
}

// New returns a Log that keeps changes of at most limit bytes. Its memory is at most about three times as large, because it keeps places
// of changes that it has dropped. id distinguishes its positions from those of other processes.
func New(limit int, id uint64) *Log { return &Log{id: id, limit: limit} }

// Add adds changes in their order. It copies the texts, which may be parts of larger ones.
func (l *Log) Add(all ...Change) {
	if l == nil || len(all) == 0 {
		return
	}
	for i := range all {
		all[i].Namespace, all[i].ID = strings.Clone(all[i].Namespace), strings.Clone(all[i].ID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range all {
		l.entries = append(l.entries, c)
		l.bytes += c.size()
		l.end++
	}
	for l.bytes > l.limit {
		l.bytes -= l.entries[l.dropped].size()
		l.entries[l.dropped] = Change{}
		l.dropped++
	}
	if l.dropped > len(l.entries)/2 {
		kept := copy(l.entries, l.entries[l.dropped:])
		clear(l.entries[kept:])
		l.entries, l.dropped = l.entries[:kept], 0
	}
	if l.added != nil {
		close(l.added)
		l.added = nil
	}
}

// End returns the position after the last change.
func (l *Log) End() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Entry is a change and the position after it.
type Entry struct {
	Change

	After Position
}

// Read returns the changes of a namespace after a position, and the position after the last change of any namespace. complete is
// false if the log has dropped some of them, or if there are more than most: then found is nil.
func (l *Log) Read(from Position, namespace string, most int) (found []Entry, end Position, complete bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.entries[l.dropped:]
	first := l.end - Position(len(kept))
	if from < first || from > l.end {
		return nil, l.end, false
	}
	kept = kept[from-first:]
	for i := range kept {
		c := &kept[i]
		if c.Namespace != namespace {
			continue
		}
		if len(found) == most {
			return nil, l.end, false
		}
		found = append(found, Entry{Change: *c, After: from + Position(i) + 1})
	}
	return found, l.end, true
}

// Wait returns a channel that is closed when there are changes after the position.
func (l *Log) Wait(from Position) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from != l.end {
		return closed
	}
	if l.added == nil {
		l.added = make(chan struct{})
	}
	return l.added
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Format returns the text of a position.
func (l *Log) Format(p Position) string { return fmt.Sprintf("%016x-%d", l.id, p) }

// Parse is the inverse of Format. ok is false for a position of another Log, and for other texts.
func (l *Log) Parse(text string) (p Position, ok bool) {
	number, ok := strings.CutPrefix(text, fmt.Sprintf("%016x-", l.id))
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(number, 10, 64)
	return Position(n), err == nil && Position(n) <= l.End()
}
