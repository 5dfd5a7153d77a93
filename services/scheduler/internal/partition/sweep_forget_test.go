package partition_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestASweepForgetsOnlyWhatItHasRead: a sweep reads one page beyond R. Otherwise it would forget a key whose row
// it has not read, and the row would be published twice.
func TestASweepForgetsOnlyWhatItHasRead(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	for id := byte(1); id <= 5; id++ { // pages have two rows
		b.put(row(id, start+timer.Millis(id), start))
		b.p.Hint(start, hint(b.rows[id-1]))
	}
	b.wantReleased(start+10, "1", "2", "3", "4", "5")
	b.sweep(start + 20)
	if n := b.p.InFlight(); n != 5 {
		t.Fatalf("%d in flight, want 5: every row is still in the store", n)
	}
	b.poll(start + 20)
	b.wantReleased(start + 20)
}

// TestASweepOfACutShardEndsAtR: polls read the rows after it.
func TestASweepOfACutShardEndsAtR(t *testing.T) {
	l := limits()
	l.PollPerShard = 1
	b := newBench(t, l)
	b.put(row(1, start-9, start-10), row(2, start-8, start-10))
	b.open(start, store.MinKey(), store.MinKey())
	b.poll(start)
	if got, want := b.p.SweepStart(start).Shards[0].Upto, b.rows[0].Key(); got != want {
		t.Fatalf("the sweep reaches %v, want R, %v", got, want)
	}
}

// TestI6_RStaysBeforeTheFirstRowLeftOut: during a poll, hints take the room that its answer needs. The watermark must
// not pass the rows without room, even if later rows are armed.
func TestI6_RStaysBeforeTheFirstRowLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		hints []byte   // rows hinted during the poll; there is room for 3
		first []string // published before the next poll
		left  byte     // the first row without room
		then  []string // published after the next poll
	}{
		"no row fits":                  {[]byte{7, 8, 9}, []string{"7", "8", "9"}, 1, []string{"1", "2", "3"}},
		"one row fits":                 {[]byte{8, 9}, []string{"1", "8", "9"}, 2, []string{"2", "3"}},
		"a row behind it is armed":     {[]byte{2, 8, 9}, []string{"2", "8", "9"}, 1, []string{"1", "3"}},
		"the rows around it are armed": {[]byte{1, 3, 9}, []string{"1", "3", "9"}, 2, []string{"2"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := limits()
			l.MaxArmed = 3
			b := newBench(t, l)
			for id := byte(1); id <= 3; id++ {
				b.put(row(id, start+timer.Millis(id), start))
			}
			b.open(start, store.MinKey(), store.MinKey())
			b.floor(start, 1)
			q := b.p.Poll(start)
			for _, id := range c.hints {
				b.p.Hint(start, hint(row(id, start+timer.Millis(id), start)))
			}
			b.p.Polled(start, q, []store.DueShard{{Rows: b.rows, NextDueAt: timer.Never}})
			if n := b.p.Armed(); n != 3 {
				t.Fatalf("%d armed, want the bound of 3", n)
			}
			now := start + 10
			b.wantReleased(now, c.first...)
			if w, moved := b.watermark(start + 60_000); moved && !b.rows[c.left-1].Key().After(w) {
				t.Errorf("W is %v, past row %d, which is not published", w, c.left)
			}
			if at := b.p.PollAt(); at > now {
				t.Errorf("the next poll is %v away, want none: there is room", at.Sub(now))
			}
			b.poll(now)
			b.wantReleased(now, c.then...)
		})
	}
}
