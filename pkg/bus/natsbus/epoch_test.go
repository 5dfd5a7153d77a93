package natsbus

import "testing"

// TestEpochs checks which epoch sequences belong to after a series of replies from the server.
func TestEpochs(t *testing.T) {
	const created = 1000
	type want map[uint64]int64
	for name, c := range map[string]struct {
		play func(e *epochs)
		want want
	}{
		"one epoch": {
			play: func(e *epochs) { e.update(e.mark(), created, 9, true) },
			want: want{1: created, 9: created, 10: created},
		},
		"the end went back": {
			play: func(e *epochs) {
				e.assigned(20)
				e.update(e.mark(), created, 9, true)
			},
			want: want{9: created, 10: created + 1, 20: created + 1},
		},
		"it went back twice, the second time further": {
			play: func(e *epochs) {
				e.assigned(20)
				e.update(e.mark(), created, 9, true)
				e.update(e.mark(), created, 4, true)
			},
			want: want{4: created, 5: created + 2, 9: created + 2, 10: created + 2},
		},
		"it went back twice, the second time less": {
			play: func(e *epochs) {
				e.assigned(20)
				e.update(e.mark(), created, 9, true)
				e.assigned(19)
				e.update(e.mark(), created, 14, true)
			},
			want: want{9: created, 10: created + 1, 14: created + 1, 15: created + 2},
		},
		"all messages are lost": {
			play: func(e *epochs) {
				e.assigned(20)
				e.update(e.mark(), created, 0, true)
			},
			want: want{1: created + 1, 20: created + 1},
		},
		"a state older than a concurrent publish": {
			play: func(e *epochs) {
				m := e.mark()
				e.assigned(20)
				e.update(m, created, 9, true)
			},
			want: want{9: created, 10: created, 20: created},
		},
		"a second answer to requests from before the new epoch": {
			play: func(e *epochs) {
				e.assigned(20)
				m := e.mark()
				e.update(m, created, 9, true)
				e.update(m, created, 8, true)
			},
			want: want{8: created, 9: created, 10: created + 1},
		},
		"detected by a publish only": {
			play: func(e *epochs) {
				e.assigned(20)
				m := e.mark()
				e.update(m, created, 25, true)
				e.reassigned(m, 15)
			},
			want: want{14: created, 15: created + 1, 25: created + 1},
		},
		"the end of a log went back": {
			play: func(e *epochs) {
				e.assigned(20)
				e.update(e.mark(), created, 9, false)
			},
			want: want{9: created, 10: created},
		},
		"the stream was created again": {
			play: func(e *epochs) {
				e.assigned(20)
				e.update(e.mark(), created, 9, true)
				e.update(e.mark(), 2000, 3, true)
			},
			want: want{1: 2000, 10: 2000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &epochs{}
			e.update(e.mark(), created, 1, true)
			c.play(e)
			for seq, number := range c.want {
				if got := e.at(seq); got != number {
					t.Errorf("sequence %d is in epoch %d, want %d", seq, got, number)
				}
			}
		})
	}
}

// TestAPublicationCountsToTheEpochInWhichItBegan: it is unknown whether the server stored the message before or after
// the loss, so its position belongs to the earlier epoch.
func TestAPublicationCountsToTheEpochInWhichItBegan(t *testing.T) {
	e := &epochs{}
	e.update(e.mark(), 1000, 20, true)
	before := e.mark()
	e.update(e.mark(), 1000, 9, true)
	if at := e.positionSince(before, 0, 21); at.Epoch != 1000 {
		t.Errorf("a message that may be lost is in epoch %d, want 1000", at.Epoch)
	}
	if at := e.positionSince(e.mark(), 0, 10); at.Epoch != 1001 {
		t.Errorf("a message of the new epoch is in epoch %d, want 1001", at.Epoch)
	}
	if at := e.positionSince(e.mark(), 0, 8); at.Epoch != 1000 { // a duplicate of a message that survived
		t.Errorf("a message that survived is in epoch %d, want 1000", at.Epoch)
	}
}
