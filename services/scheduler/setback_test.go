package scheduler_test

import (
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// fastClock is ahead of the world's clock until it is set right.
type fastClock struct {
	mu      sync.Mutex
	ahead   time.Duration
	setBack chan struct{}
}

func (c *fastClock) now() timer.Millis {
	c.mu.Lock()
	defer c.mu.Unlock()
	return timer.SystemClock().Add(c.ahead)
}

func (c *fastClock) nextSetBack() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setBack
}

func (c *fastClock) set(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
	close(c.setBack)
	c.setBack = make(chan struct{})
}

func (c *fastClock) use(config *scheduler.Config) {
	config.Clock, config.SetBack = c.now, c.nextSetBack
}

func TestI15_TimersFireInTimeAfterTheClockWasSetBack(t *testing.T) {
	inWorld(t, func(w *world) {
		clock := &fastClock{ahead: time.Hour, setBack: make(chan struct{})}
		n := w.start("a", clock.use)
		before := w.many(20, 90*time.Minute, false)
		w.many(20, time.Hour+time.Second, true) // the watermark is an hour ahead
		w.pass(10 * time.Second)
		if fired := len(w.take()); fired != 20 {
			t.Fatalf("%d timers fired by the fast clock", fired)
		}
		clock.set(0)
		w.pass(time.Second)
		hinted, polled := w.many(20, time.Second, true), w.many(20, 10*time.Minute, false)
		w.pass(5 * time.Second)
		w.wantFired(0, hinted...)
		w.pass(10 * time.Minute)
		w.wantFired(0, polled...)
		w.pass(90 * time.Minute)
		w.wantFired(0, before...)
		n.end()
	})
}

func TestI15_SettingTheClockBackDelaysNoTimerByMoreThanASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		clock := &fastClock{ahead: time.Hour, setBack: make(chan struct{})}
		a, b := w.start("a", clock.use), w.start("b")
		w.pass(10 * time.Second)
		clock.set(0)
		timers := w.many(20, 100*time.Millisecond, true)
		w.pass(2 * time.Second)
		w.wantFired(time.Second, timers...)
		a.end()
		b.end()
	})
}
