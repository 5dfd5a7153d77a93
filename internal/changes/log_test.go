package changes_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/internal/changes"
)

func of(namespace, id string) changes.Change {
	return changes.Change{Type: changes.Created, Namespace: namespace, ID: id}
}

func ids(found []changes.Entry) string {
	var all []string
	for _, e := range found {
		all = append(all, fmt.Sprintf("%s@%d", e.ID, e.After))
	}
	return strings.Join(all, " ")
}

func TestReadReturnsTheChangesOfANamespaceAfterAPosition(t *testing.T) {
	l := changes.New(1<<20, 7)
	l.Add(of("a", "1"), of("b", "2"))
	l.Add(of("a", "3"))
	for _, c := range []struct {
		from      changes.Position
		namespace string
		most      int
		want      string
		complete  bool
	}{
		{0, "a", 9, "1@1 3@3", true},
		{1, "a", 9, "3@3", true},
		{3, "a", 9, "", true},
		{0, "b", 1, "2@2", true},
		{0, "a", 2, "1@1 3@3", true},
		{0, "a", 1, "", false}, // more than the reader accepts
		{4, "a", 9, "", false}, // after the end
	} {
		found, end, complete := l.Read(c.from, c.namespace, c.most)
		if ids(found) != c.want || end != 3 || complete != c.complete {
			t.Errorf("%+v: %s, %d, %v", c, ids(found), end, complete)
		}
	}
}

// The log forgets its oldest changes, and says so.
func TestTheLogIsBounded(t *testing.T) {
	const limit = 4096
	l := changes.New(limit, 7)
	id := strings.Repeat("x", 255)
	for range 100_000 {
		l.Add(of("a", id))
	}
	end := l.End()
	if end != 100_000 {
		t.Fatalf("the end is %d", end)
	}
	var first changes.Position
	for first = end; ; first-- {
		if _, _, complete := l.Read(first-1, "a", 1000); !complete {
			break
		}
	}
	kept := int(end - first)
	if kept < 8 || kept*255 > limit {
		t.Errorf("%d changes of more than 255 bytes are kept, and the limit is %d", kept, limit)
	}
	if found, _, complete := l.Read(first, "a", 1000); !complete || len(found) != kept {
		t.Errorf("%d of %d kept changes, %v", len(found), kept, complete)
	}
	// A change that is larger than the log leaves it empty.
	l = changes.New(10, 7)
	l.Add(of("a", "1"))
	if _, _, complete := l.Read(0, "a", 9); complete {
		t.Error("a change that was dropped does not count")
	}
	if found, _, complete := l.Read(1, "a", 9); !complete || found != nil {
		t.Errorf("%v, %v", found, complete)
	}
}

func TestWaitEndsWithTheNextChange(t *testing.T) {
	l := changes.New(1<<20, 7)
	first, second := l.Wait(0), l.Wait(0)
	select {
	case <-first:
		t.Fatal("there is no change")
	default:
	}
	l.Add(of("a", "1"))
	<-first
	<-second
	<-l.Wait(0) // there is one already
	select {
	case <-l.Wait(1):
		t.Fatal("there is no further change")
	default:
	}
}

func TestPositionsBelongToTheirLog(t *testing.T) {
	l, other := changes.New(1<<20, 7), changes.New(1<<20, 8)
	l.Add(of("a", "1"), of("a", "2"))
	other.Add(of("a", "1"), of("a", "2"))
	for p := range changes.Position(3) {
		if got, ok := l.Parse(l.Format(p)); !ok || got != p {
			t.Errorf("%s is %d, %v", l.Format(p), got, ok)
		}
		if _, ok := l.Parse(other.Format(p)); ok {
			t.Errorf("%s of another process is accepted", other.Format(p))
		}
	}
	for _, text := range []string{"", "1", l.Format(3), l.Format(1) + "x", "-1", strings.TrimSuffix(l.Format(1), "1") + "-1"} {
		if p, ok := l.Parse(text); ok {
			t.Errorf("%q is %d", text, p)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	l := changes.New(1<<16, 7)
	const writers, each = 4, 2000
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				l.Add(of("a", "1"), of("b", "2"))
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for from := changes.Position(0); from < 2*writers*each; {
				<-l.Wait(from)
				found, end, complete := l.Read(from, "a", 1<<30)
				if complete && len(found) == 0 && end-from > 1 {
					t.Errorf("no change of the namespace between %d and %d", from, end)
				}
				from = end
			}
		})
	}
	all.Wait()
	var none *changes.Log
	none.Add(of("a", "1"))
}
