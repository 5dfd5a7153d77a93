package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

// stream publishes commands whose second application would be detected.
type stream struct {
	w *world

	mu   sync.Mutex
	tap  *tap.Tap // the publisher's; replaced after each kill
	sent []sentCommand
}

type sentCommand struct {
	id, verb string
	// safe: the bus has acknowledged it. The bus may have the other ones, too.
	safe bool
}

// next returns the n-th command. Three kinds alternate:
//
//	once     a create that refuses to replace: applied twice, it is refused the second time
//	same     a create of one timer with an increasing payload: applied twice, it would restore an
//	         older payload and create a second generation
//	gone     a create and the delete of its timer: applied twice, the delete finds no timer
func (s *stream) next(n int) *event.CloudEvent {
	id := fmt.Sprintf("c-%05d", n)
	switch n % 4 {
	case 0:
		return s.w.command(id, "create", fmt.Sprintf(`{"namespace":"NS","id":"once-%d","executeIn":"1h","onConflict":"fail"}`, n))
	case 1:
		return s.w.command(id, "create", fmt.Sprintf(`{"namespace":"NS","id":"same","executeIn":"1h","payload":%d}`, n))
	case 2:
		return s.w.command(id, "create", fmt.Sprintf(`{"namespace":"NS","id":"gone-%d","executeIn":"1h"}`, n))
	default:
		return s.w.command(id, "delete", fmt.Sprintf(`{"namespace":"NS","id":"gone-%d"}`, n-1))
	}
}

// run publishes until ctx ends. It does not repeat unacknowledged commands, because the test must handle both outcomes.
func (s *stream) run(ctx context.Context) {
	// About 1,500 per second: more would only build up a backlog.
	const burst = 32
	for ctx.Err() == nil {
		var acks [burst]<-chan error
		s.mu.Lock()
		first := len(s.sent)
		for i := range burst {
			e := s.next(first + i)
			acks[i] = s.tap.PublishSoon(tap.Commands, e)
			s.sent = append(s.sent, sentCommand{id: e.ID, verb: strings.TrimPrefix(e.Type, "timerbus.timer.")})
		}
		s.mu.Unlock()
		for i := range burst {
			err := <-acks[i]
			s.mu.Lock()
			s.sent[first+i].safe = err == nil
			s.mu.Unlock()
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// connect opens a new connection for the test and the publisher.
func (s *stream) connect(t *testing.T) {
	t.Helper()
	s.w.connectTap(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tap = s.w.tap
}

// TestCommandsAcrossKills kills the process repeatedly during a stream of commands, usually between the commit of a
// batch and its acknowledgement. Every command that the bus acknowledged is answered, and none is applied twice, even
// if it is redelivered.
func TestCommandsAcrossKills(t *testing.T) {
	t.Parallel()
	if onDatabase() && chosen().repeats {
		t.Skipf("%s applies topic commands at least once", chosen().name)
	}
	w := startOwn(t)
	s := &stream{w: w}
	ctx, stop := context.WithCancel(t.Context())
	var publishing sync.WaitGroup
	s.connect(t)
	publishing.Go(func() { s.run(ctx) })
	defer publishing.Wait()
	defer stop()
	// A few rounds, and more if no kill was between commit and acknowledgement.
	for round := 1; round <= 5 || round <= 20 && !s.replayed(t); round++ {
		results := w.listen(t, tap.Results)
		await(t, results, 100+rand.IntN(300), func(m tap.Message) bool { return m.Event.Type == event.TypeApplied })
		if err := w.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := w.Start(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		s.connect(t)
	}
	stop()
	publishing.Wait()
	// The last command of this stream is answered after all commands before it.
	fence := w.command("fence", "create", `{"namespace":"NS","id":"fence","executeIn":"1h"}`)
	results := w.listen(t, tap.Results)
	if err := w.tap.Publish(within(t, patience), tap.Commands, fence, event.Structured); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Await(within(t, patience), 1, answerTo(fence.ID)); err != nil {
		t.Fatalf("the last of %d commands: %v", len(s.sent), err)
	}
	s.judge(t)
}

// replayed reports whether a command was redelivered after its commit: its answer is "applied earlier", or it was
// applied twice.
func (s *stream) replayed(t *testing.T) bool {
	t.Helper()
	all, err := s.w.tap.ReadAll(within(t, patience), tap.Results)
	if err != nil {
		t.Fatal(err)
	}
	answered := map[string]bool{}
	return slices.ContainsFunc(all, func(m tap.Message) bool {
		if m.Event.Type != event.TypeApplied {
			return false
		}
		a := data[event.Answer](t, &m)
		again := a.Earlier || answered[a.CommandID]
		answered[a.CommandID] = true
		return again
	})
}

// judge reads all answers on the topics.
func (s *stream) judge(t *testing.T) {
	t.Helper()
	answers := map[string][]event.Answer{}
	for _, subject := range []string{tap.Results, tap.Dead} {
		all, err := s.w.tap.ReadAll(within(t, patience), subject)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.Event.Type != event.TypeApplied && m.Event.Type != event.TypeRefused {
				continue
			}
			a := data[event.Answer](t, &m)
			answers[a.CommandID] = append(answers[a.CommandID], a)
		}
	}
	var safe, applied, earlier, twice, silent, refused int
	latest := -1
	for n, c := range s.sent {
		firsts := 0
		for _, a := range answers[c.id] {
			switch {
			case a.Error != "" && !s.perhapsNothing(n):
				refused++
				t.Errorf("command %s (%s) was refused: %s", c.id, c.verb, a.Message)
			case a.Error != "":
			case a.Earlier:
				earlier++
			default:
				firsts++
				applied++
			}
		}
		if firsts > 1 {
			twice++
			t.Errorf("command %s (%s) was answered as applied %d times", c.id, c.verb, firsts)
		}
		if c.safe {
			safe++
			if len(answers[c.id]) == 0 {
				silent++
			}
		}
		if n%4 == 1 && len(answers[c.id]) > 0 {
			latest = n
		}
	}
	if earlier == 0 {
		t.Error("no kill occurred between a commit and its acknowledgement: the test proves nothing")
	}
	if silent > 0 {
		t.Errorf("%d of %d commands that the bus had acknowledged were never answered", silent, safe)
	}
	t.Logf("%d commands sent, %d acknowledged by the bus, %d answered as applied, %d as applied earlier, %d applied twice, %d refused, %d not answered",
		len(s.sent), safe, applied, earlier, twice, refused, silent)
	same, err := s.w.api.GetTimer(t.Context(), s.w.selection("same"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := strconv.Atoi(string(same.Payload)); err != nil || got != latest {
		t.Errorf("the timer of all has payload %s, the latest that was applied is %d", same.Payload, latest)
	}
	s.checkLeft(t, answers)
}

// perhapsNothing: a delete may find nothing if the bus may never have had the create before it.
func (s *stream) perhapsNothing(n int) bool { return n%4 == 3 && !s.sent[n-1].safe }

// checkLeft: all timers that were created once exist, and no deleted one does.
func (s *stream) checkLeft(t *testing.T, answers map[string][]event.Answer) {
	t.Helper()
	there := map[string]bool{}
	for timer, err := range s.w.api.AllTimers(t.Context(), client.ListTimersRequest{Namespace: s.w.namespace, Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		there[timer.ID] = true
	}
	var missing, left int
	for n, c := range s.sent {
		switch id := fmt.Sprintf("once-%d", n); n % 4 {
		case 0:
			if c.safe && !there[id] {
				missing++
			}
		case 3:
			if id := fmt.Sprintf("gone-%d", n-1); c.safe && there[id] && len(answers[c.id]) > 0 {
				left++
			}
		}
	}
	if missing > 0 || left > 0 {
		t.Errorf("%d timers are missing, %d are left that were deleted", missing, left)
	}
}
