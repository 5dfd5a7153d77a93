package dispatcher_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func TestI7_WhatWasDeletedBeforeItsTimeNeverGoesOut(t *testing.T) {
	inWorld(t, func(w *world) {
		// The scheduler's clock is ahead, so that the event arrives before its due time.
		w.ahead = 200 * time.Millisecond
		n := w.start()
		for i := range 20 {
			w.put(fmt.Sprint(i), time.Second, nil)
		}
		w.pass(999*time.Millisecond - step)
		w.wantDepth(20)
		for i := range 10 {
			w.write(store.Delete{Ref: w.ref(fmt.Sprint(i))})
		}
		for i := 10; i < 15; i++ {
			later := timer.SystemClock().Add(time.Hour)
			w.write(store.Update{
				Ref: w.ref(fmt.Sprint(i)), Revision: w.revisions.Next(), Patch: timer.Patch{ExecuteAt: &later},
			})
		}
		w.pass(time.Second)
		for i := range 20 {
			w.wantCalls(fmt.Sprint(i), i/15)
		}
		w.wantDepth(0)
		n.end()
	})
}

func TestI7_ARowThatWasReadBeforeItsTimeIsReadAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		put := w.put("a", time.Second, nil)
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "current" && w.get("a").ID != "" {
				// Delete in time, while the read waits for its answer.
				w.write(store.Delete{Ref: w.ref("a")})
				time.Sleep(2 * time.Second)
			}
			return nil
		})
		// The due time in this event is earlier than that of the row.
		w.publish(store.DueRow{Ref: w.ref("a"), Revision: put.Revision, Generation: put.Generation, Attempt: 1})
		w.pass(5 * time.Second)
		w.wantCalls("a", 0)
		w.wantDepth(0)
		n.end()
	})
}

// TestI7_TheSecondReadOfARedeliveryIsTheRowCheck: the timer is deleted between the two reads.
func TestI7_TheSecondReadOfARedeliveryIsTheRowCheck(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start(func(c *dispatcher.Config) { c.Redelivered = func(*bus.Delivery) bool { return true } })
		reads := 0
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "current" {
				if reads++; reads == 1 {
					w.write(store.Delete{Ref: w.ref("a")})
				}
			}
			return nil
		})
		w.put("a", 0, nil)
		w.pass(time.Second)
		if reads != 2 {
			t.Fatalf("%d reads, want 2", reads)
		}
		w.wantCalls("a", 0)
		n.end()
	})
}

func TestI7_NothingLiesBetweenTheRowCheckAndTheRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		// There is one slot: the second timer must be read after the first has ended, not together with it.
		w.answer = answerAfter(time.Second, 200)
		n := w.start(func(c *dispatcher.Config) { c.Concurrency = 1 })
		w.put("a", 0, nil)
		w.pass(step)
		w.put("b", 0, nil)
		w.pass(500 * time.Millisecond)
		w.wantCalls("b", 0)
		w.write(store.Delete{Ref: w.ref("b")})
		w.pass(2 * time.Second)
		w.wantCalls("a", 1)
		w.wantCalls("b", 0)
		n.end()
	})
}

func TestI8_NothingIsEarlyByTheNodesClock(t *testing.T) {
	inWorld(t, func(w *world) {
		const behind = 200 * time.Millisecond
		clock := func() timer.Millis { return timer.SystemClock().Add(-behind) }
		n := w.start(func(c *dispatcher.Config) { c.Clock = clock })
		w.put("a", time.Second, nil)
		w.pass(2 * time.Second)
		w.wantCalls("a", 1)
		c := w.called("a")[0]
		if late := c.at.Sub(c.timer.DueAt); late < behind || late > behind+step {
			t.Fatalf("called at %v, want its time by the node's clock", late)
		}
		n.end()
	})
}

func TestI8_FarFromItsTimeAnEventGoesBackToTheQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		w.ahead = time.Minute
		n := w.start(func(c *dispatcher.Config) { c.MaxInFlight = 2 })
		for i := range 10 {
			w.put(fmt.Sprint("far", i), time.Minute, nil)
		}
		w.pass(step)
		w.put("near", 0, nil)
		w.pass(time.Second)
		w.wantStatus("near", timer.StatusDone) // the far ones do not fill the queue
		w.pass(90 * time.Second)
		for i := range 10 {
			w.wantCalls(fmt.Sprint("far", i), 1)
			if c := w.called(fmt.Sprint("far", i))[0]; c.at < c.timer.DueAt {
				t.Fatalf("called at %v, due at %v", c.at, c.timer.DueAt)
			}
		}
		n.end()
	})
}

func TestI8_TheRowsTimeCountsAndNotTheEvents(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		put := w.put("a", 3*time.Second, nil)
		w.publish(store.DueRow{
			Ref: w.ref("a"), Revision: put.Revision, Generation: put.Generation, Attempt: 1, DueAt: put.DueAt.Add(-time.Minute),
		})
		w.pass(2900 * time.Millisecond)
		w.wantCalls("a", 0)
		w.pass(200 * time.Millisecond)
		w.wantCalls("a", 1)
		n.end()
	})
}
