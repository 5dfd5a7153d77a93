package kafkabus

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/bus/window"
)

func TestProgressTravelsInMetadata(t *testing.T) {
	for name, p := range map[string]progress{
		"ordered":     {next: 17, topic: "id"},
		"queue":       {next: 17, topic: "id", reach: 99},
		"new queue":   {next: 0, topic: "id", reach: 64},
		"beyond gaps": {next: 17, topic: "id", reach: 99, acked: []window.Span{{First: 18, Last: 18}, {First: 20, Last: 55}}},
		"first span":  {next: 17, topic: "id", reach: 99, acked: []window.Span{{First: 17, Last: 17}}},
	} {
		got, err := parseProgress(p.next, p.metadata())
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %q was read as %+v, %v; want %+v", name, p.metadata(), got, err, p)
		}
	}
}

func TestMetadataIsCutWhereTheBrokersWould(t *testing.T) {
	p := progress{next: 1 << 40, topic: "id", reach: 1 << 41}
	for i := range int64(5000) {
		p.acked = append(p.acked, window.Span{First: p.next + 1 + 2*i, Last: p.next + 1 + 2*i})
	}
	text := p.metadata()
	if len(text) > metadataLimit {
		t.Fatalf("%d bytes", len(text))
	}
	got, err := parseProgress(p.next, text)
	if err != nil || got.reach != p.reach || len(got.acked) < 900 || !slices.Equal(got.acked, p.acked[:len(got.acked)]) {
		t.Fatalf("%d of %d spans are left, reach %d, %v", len(got.acked), len(p.acked), got.reach, err)
	}
}

func TestForeignMetadata(t *testing.T) {
	if p, err := parseProgress(5, ""); err != nil || p.next != 5 || p.topic != "" {
		t.Errorf("without metadata: %+v, %v", p, err)
	}
	for _, text := range []string{
		"2 id +1", "moved by hand", "1", "1 id 3", "1 id +-1", "1 id +1 0+0", "1 id +1 -1+1",
		"1 id +zzzzzzzzzzzz", "1 id +1 zzzzzzzzzzzz+1", "1 id +1 1+zzzzzzzzzzzz", "1 id +1 1+1y2p0ij32e8e7+1",
	} {
		p, err := parseProgress(5, text)
		if err == nil || p.next != 5 || p.topic != "" || p.reach != 0 || p.acked != nil {
			t.Errorf("%q was read as %+v, %v", text, p, err)
		}
		if err != nil && !strings.Contains(err.Error(), strings.Fields(text)[0]) {
			t.Errorf("%q: %v does not quote it", text, err)
		}
	}
}

// FuzzParseProgress checks the invariants of every commit: spans are ordered and beyond the committed offset, and
// metadata is read as it was written.
func FuzzParseProgress(f *testing.F) {
	f.Add(int64(0), "1 id")
	f.Add(int64(17), "1 AAAA +2a 1+1 3+z")
	f.Add(int64(1)<<60, "1 AAAA +2a 1+1 3+z")
	f.Fuzz(func(t *testing.T, next int64, text string) {
		if next < 0 {
			return
		}
		p, err := parseProgress(next, text)
		if p.next != next || err != nil && (p.topic != "" || p.acked != nil) {
			t.Fatalf("%+v, %v", p, err)
		}
		at, acked := next, int64(0)
		for _, s := range p.acked {
			if s.First < at || s.Last < s.First || !p.isAcked(s.First) || !p.isAcked(s.Last) || p.isAcked(s.Last+1) && !nextSpan(p, s) {
				t.Fatalf("span %+v at %d of %+v", s, at, p)
			}
			at, acked = s.Last+1, acked+s.Last-s.First+1
		}
		if p.beyond(next) != acked {
			t.Fatalf("%d acknowledged beyond, want %d", p.beyond(next), acked)
		}
		if err != nil || p.topic == "" || p.reach == 0 || len(p.metadata()) >= metadataLimit {
			return
		}
		again, err := parseProgress(next, p.metadata())
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%+v was written as %q and read as %+v, %v", p, p.metadata(), again, err)
		}
	})
}

// nextSpan reports whether another span begins directly after s.
func nextSpan(p progress, s window.Span) bool {
	return slices.ContainsFunc(p.acked, func(o window.Span) bool { return o.First == s.Last+1 })
}

func TestEpochsGrow(t *testing.T) {
	r := &registry{epochs: map[string]int64{}}
	for _, m := range []struct {
		id     string
		millis int64
	}{{"a", 1000}, {"b", 1000}, {"a", 5000}, {"c", 500}, {"d", 9000}} {
		r.mention(m.id, m.millis)
	}
	want := map[string]int64{"a": 1000, "b": 1001, "c": 1002, "d": 9000}
	if !reflect.DeepEqual(r.epochs, want) {
		t.Errorf("%v, want %v", r.epochs, want)
	}
}
