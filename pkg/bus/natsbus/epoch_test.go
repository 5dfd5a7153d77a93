package natsbus

import "testing"

// TestEpochs plays what a process learns of one stream, and looks where sequences lie then.
func TestEpochs(t *testing.T) {
	const created = 1000
	type want map[uint64]int64
	for name, c := range map[string]struct {
		play func(e *epochs)
		want want
	}{
		"one epoch": {
			play: func(e *epochs) { e.learn(e.mark(), created, 9, true) },
			want: want{1: created, 9: created, 10: created},
		},
		"the end went back": {
			play: func(e *epochs) {
				e.saw(20)
				e.learn(e.mark(), created, 9, true)
			},
			want: want{9: created, 10: created + 1, 20: created + 1},
		},
		"it went back twice, the second time further": {
			play: func(e *epochs) {
				e.saw(20)
				e.learn(e.mark(), created, 9, true)
				e.learn(e.mark(), created, 4, true)
			},
			want: want{4: created, 5: created + 2, 9: created + 2, 10: created + 2},
		},
		"it went back twice, the second time less": {
			play: func(e *epochs) {
				e.saw(20)
				e.learn(e.mark(), created, 9, true)
				e.saw(19)
				e.learn(e.mark(), created, 14, true)
			},
			want: want{9: created, 10: created + 1, 14: created + 1, 15: created + 2},
		},
		"everything is lost": {
			play: func(e *epochs) {
				e.saw(20)
				e.learn(e.mark(), created, 0, true)
			},
			want: want{1: created + 1, 20: created + 1},
		},
		"an answer that was on its way while others published": {
			play: func(e *epochs) {
				m := e.mark()
				e.saw(20)
				e.learn(m, created, 9, true)
			},
			want: want{9: created, 10: created, 20: created},
		},
		"an answer from before the loss was noticed": {
			play: func(e *epochs) {
				e.saw(20)
				m := e.mark()
				e.learn(m, created, 9, true)
				e.learn(m, created, 8, true)
			},
			want: want{8: created, 9: created, 10: created + 1},
		},
		"only a publisher notices": {
			play: func(e *epochs) {
				e.saw(20)
				m := e.mark()
				e.learn(m, created, 25, true)
				e.reused(m, 15)
			},
			want: want{14: created, 15: created + 1, 25: created + 1},
		},
		"of a log the end went back": {
			play: func(e *epochs) {
				e.saw(20)
				e.learn(e.mark(), created, 9, false)
			},
			want: want{9: created, 10: created},
		},
		"made again": {
			play: func(e *epochs) {
				e.saw(20)
				e.learn(e.mark(), created, 9, true)
				e.learn(e.mark(), 2000, 3, true)
			},
			want: want{1: 2000, 10: 2000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &epochs{}
			e.learn(e.mark(), created, 1, true)
			c.play(e)
			for seq, number := range c.want {
				if got := e.at(seq); got != number {
					t.Errorf("sequence %d lies in epoch %d, want %d", seq, got, number)
				}
			}
		})
	}
}

// TestAPublicationCountsToTheEpochInWhichItBegan: whether it was taken before the loss or after it, nobody knows.
func TestAPublicationCountsToTheEpochInWhichItBegan(t *testing.T) {
	e := &epochs{}
	e.learn(e.mark(), 1000, 20, true)
	before := e.mark()
	e.learn(e.mark(), 1000, 9, true)
	if at := e.positionSince(before, 0, 21); at.Incarnation != 1000 {
		t.Errorf("a message that may be lost lies in epoch %d, want 1000", at.Incarnation)
	}
	if at := e.positionSince(e.mark(), 0, 10); at.Incarnation != 1001 {
		t.Errorf("a message of the new epoch lies in %d, want 1001", at.Incarnation)
	}
	if at := e.positionSince(e.mark(), 0, 8); at.Incarnation != 1000 { // a repetition of one that is still there
		t.Errorf("a message that was kept lies in epoch %d, want 1000", at.Incarnation)
	}
}
