package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/e2e/internal/record"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

// stage has the receiver, the bus client and the API client, with everything that they have seen.
type stage struct {
	api      *client.Client
	receiver *receiver.Receiver
	tap      *tap.Tap
	fired    *record.Record[tap.Message]

	mu    sync.Mutex // guards the following fields, and keeps printed lines separate
	out   io.Writer
	began time.Time
	seen  map[string][]delivery // by timer
}

type delivery struct {
	webhookID string
	late      time.Duration
}

func build(s *harness.Service, out io.Writer) (*stage, error) {
	st := &stage{out: out, seen: map[string][]delivery{}}
	var err error
	if st.api, err = client.New(s.URL()); err != nil {
		return nil, err
	}
	if st.receiver, err = receiver.Start(nil); err != nil {
		return nil, err
	}
	if st.tap, err = tap.Connect(s.NATSURL()); err == nil {
		st.fired, err = st.tap.Listen(tap.Fired)
	}
	if err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

func (s *stage) close() {
	_ = s.receiver.Close() // the receiver is not used any more
	if s.tap != nil {
		s.tap.Close()
	}
}

// play creates the timers, prints deliveries until all have arrived, and checks them. Its error lists the differences.
func (s *stage) play(ctx context.Context, acts []act) error {
	fmt.Fprintf(s.out, "Callbacks go to %s\n\nTimers:\n", s.receiver.URL)
	s.began = time.Now()
	for i := range acts {
		if err := s.set(ctx, &acts[i]); err != nil {
			return err
		}
	}
	fmt.Fprint(s.out, "\nDeliveries:\n")
	listening := s.listen(ctx)
	missing := s.await(ctx, acts)
	listening()
	return s.judge(ctx, acts, missing)
}

func (s *stage) set(ctx context.Context, a *act) error {
	request := client.CreateTimerRequest{ID: a.id, ExecuteIn: a.in.String(), RetryPolicy: quick}
	if !a.event {
		request.CallbackURL = s.receiver.URL
		s.receiver.Script("default", a.id, func(c receiver.Call) receiver.Answer {
			return s.called(a, &c)
		})
	}
	made, err := s.api.CreateTimer(ctx, request)
	if err != nil {
		return fmt.Errorf("create %s: %w", a.id, err)
	}
	s.tell("  %-9s for %s (in %.1f s): %s\n", a.id, made.ExecuteAt.Format("15:04:05.000"), a.in.Seconds(), a.about)
	if !a.deleted {
		return nil
	}
	inTime, err := s.api.DeleteTimer(ctx, client.DeleteTimerRequest{ID: a.id})
	if err == nil && !inTime {
		err = fmt.Errorf("answered as too late, %v before its due time", a.in)
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", a.id, err)
	}
	return nil
}

func (s *stage) tell(format string, values ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format, values...)
}

// called prints a callback and returns its answer.
func (s *stage) called(a *act, c *receiver.Call) receiver.Answer {
	n := s.note(a.id, delivery{c.WebhookID, c.Lateness()})
	answer, words := a.answer(n)
	s.tell("  %s  %-9s callback, attempt %d, %s; answered %s\n", c.At.UTC().Format("15:04:05.000"), a.id, c.Attempt, lateness(c.Lateness()), words)
	return answer
}

func (s *stage) note(id string, d delivery) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[id] = append(s.seen[id], d)
	return len(s.seen[id])
}

func lateness(d time.Duration) string {
	if d < 0 {
		return fmt.Sprintf("%d ms EARLY", -d.Milliseconds())
	}
	return fmt.Sprintf("%d ms late", d.Milliseconds())
}

// listen prints fired events until the returned function is called.
func (s *stage) listen(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			heard, err := s.fired.Await(ctx, n, func(tap.Message) bool { return true })
			if err != nil {
				return
			}
			m := heard[n-1]
			var d event.Delivery
			if m.Err != nil || json.Unmarshal(m.Event.Data, &d) != nil {
				s.tell("  %s  message on %s that is not a delivery\n", m.At.UTC().Format("15:04:05.000"), m.Subject)
				continue
			}
			late := m.At.Sub(d.ScheduledFor.Time())
			s.note(d.TimerID, delivery{m.Event.ID, late})
			s.tell("  %s  %-9s event on %s, %s\n", m.At.UTC().Format("15:04:05.000"), d.TimerID, m.Subject, lateness(late))
		}
	}()
	return func() { cancel(); <-done }
}

// afterwards is how long the demo waits for unexpected deliveries after all expected ones.
const afterwards = 500 * time.Millisecond

// await waits until every timer has ended as expected, and until a delivery of the deleted timer would have arrived. It
// returns the state of the timers that have not ended as expected.
func (s *stage) await(ctx context.Context, acts []act) (missing []string) {
	until := s.began
	for i := range acts {
		if at := s.began.Add(acts[i].in); at.After(until) {
			until = at
		}
	}
	for {
		missing = missing[:0]
		for i := range acts {
			if what := s.pending(ctx, &acts[i]); what != "" {
				missing = append(missing, what)
			}
		}
		if len(missing) == 0 && time.Now().After(until.Add(afterwards)) {
			return nil
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return missing
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pending returns what is missing for an act; empty if nothing is.
func (s *stage) pending(ctx context.Context, a *act) string {
	s.mu.Lock()
	n := len(s.seen[a.id])
	s.mu.Unlock()
	if n < a.deliveries {
		return fmt.Sprintf("%s was delivered %d times, not %d", a.id, n, a.deliveries)
	}
	timer, err := s.api.GetTimer(ctx, client.TimerSelection{ID: a.id})
	switch {
	case a.deleted && client.IsCode(err, client.CodeTimerNotFound):
		return ""
	case a.deleted && err == nil:
		return a.id + " is still there"
	case err != nil:
		return fmt.Sprintf("%s cannot be read: %v", a.id, err)
	case timer.Status != a.status:
		return fmt.Sprintf("%s is %s, not %s", a.id, timer.Status, a.status)
	}
	return ""
}

// judge checks all deliveries.
func (s *stage) judge(ctx context.Context, acts []act, wrong []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var total int
	var worst time.Duration
	for i := range acts {
		a := &acts[i]
		lives := map[string]bool{}
		for _, d := range s.seen[a.id] {
			total++
			worst = max(worst, d.late)
			lives[d.webhookID] = true
			if d.late < 0 {
				wrong = append(wrong, fmt.Sprintf("%s was delivered %v early", a.id, -d.late))
			}
		}
		if n := len(s.seen[a.id]); n > a.deliveries {
			wrong = append(wrong, fmt.Sprintf("%s was delivered %d times, not %d", a.id, n, a.deliveries))
		}
		if len(lives) != a.lives && len(s.seen[a.id]) == a.deliveries {
			wrong = append(wrong, fmt.Sprintf("%s was delivered with %d webhook-ids, not %d", a.id, len(lives), a.lives))
		}
		if a.deleted && len(lives) == 0 {
			fmt.Fprintf(s.out, "  %14s%-9s did not fire, as expected\n", "", a.id)
		}
	}
	if len(wrong) == 0 {
		fmt.Fprintf(s.out, "\nAs expected: %d deliveries, none early, at most %d ms late.\n", total, worst.Milliseconds())
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		wrong = append(wrong, fmt.Sprintf("(%v)", err))
	}
	return errors.New("not as expected:\n  " + strings.Join(wrong, "\n  "))
}
