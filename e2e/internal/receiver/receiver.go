// Package receiver is the other side of a callback: an HTTP server that records what it is sent and
// answers as it was told, timer by timer.
//
// It imports pkg/event for the body's form, and record. It never talks to the service by itself.
package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/record"
	"github.com/timerbus/timerbus/pkg/event"
)

// Call is one callback as it arrived.
type Call struct {
	// At is when its header had arrived.
	At        time.Time
	WebhookID string
	Header    http.Header
	Body      []byte
	event.Delivery
}

// Lateness is how long after its time the call arrived.
func (c *Call) Lateness() time.Duration { return c.At.Sub(c.ScheduledFor.Time()) }

// Answer is what a call is answered; the zero value is 200 without a body.
type Answer struct {
	Status int
	Header map[string]string
	Body   string
	// Delay is waited before answering.
	Delay time.Duration
	// Before, if set, is called when the answer is about to go out and the caller still waits.
	Before func()
	// Hang gives no answer until the caller gives up; Cut closes the connection instead of answering.
	Hang, Cut bool
}

// Again asks to be called again after a while.
func Again(in time.Duration) Answer {
	at, _ := time.Now().UTC().Add(in).MarshalText()
	return Answer{Body: fmt.Sprintf(`{"ok":true,"nextExecuteAt":%q}`, at)}
}

// Script decides how a call is answered. It may be called by many at once.
type Script func(Call) Answer

// Receiver is a running server.
type Receiver struct {
	// URL is where callbacks go.
	URL string

	server *http.Server
	served chan struct{}
	calls  record.Record[Call]
	// forgets: calls are not recorded.
	forgets bool

	mu      sync.Mutex
	scripts map[string]Script // by namespace/id
	other   Script
}

// Start listens on a free port of this machine. other answers for timers without a script of their own;
// nil answers 200.
func Start(other Script) (*Receiver, error) { return start(other, false) }

// StartForgetting is Start without a record of the calls, for loads that would fill the memory.
func StartForgetting(other Script) (*Receiver, error) { return start(other, true) }

func start(other Script, forgets bool) (*Receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a receiver: %w", err)
	}
	if other == nil {
		other = func(Call) Answer { return Answer{} }
	}
	r := &Receiver{
		URL: "http://" + listener.Addr().String() + "/hook", served: make(chan struct{}),
		scripts: map[string]Script{}, other: other, forgets: forgets,
	}
	r.server = &http.Server{
		Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: 10 * time.Second,
		// Kills of the caller leave broken connections behind: that is expected, and nobody's error.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(listener)
	}()
	return r, nil
}

// Close stops the server; answers under way are cut off.
func (r *Receiver) Close() error {
	err := r.server.Close()
	<-r.served
	return err
}

// On gives a timer its answers, one for each call in turn; the last one repeats.
func (r *Receiver) On(namespace, id string, answers ...Answer) {
	var mu sync.Mutex
	r.Script(namespace, id, func(Call) Answer {
		mu.Lock()
		defer mu.Unlock()
		a := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return a
	})
}

// Script gives a timer its script.
func (r *Receiver) Script(namespace, id string, s Script) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts[event.Subject(namespace, id)] = s
}

// Calls returns the calls of one timer so far.
func (r *Receiver) Calls(namespace, id string) []Call {
	var calls []Call
	for _, c := range r.calls.All() {
		if c.Namespace == namespace && c.TimerID == id {
			calls = append(calls, c)
		}
	}
	return calls
}

// Await waits for the first n calls of a timer.
func (r *Receiver) Await(ctx context.Context, namespace, id string, n int) ([]Call, error) {
	calls, err := r.calls.Await(ctx, n, func(c Call) bool { return c.Namespace == namespace && c.TimerID == id })
	if err != nil {
		return calls, fmt.Errorf("calls of %s/%s: %w", namespace, id, err)
	}
	return calls, nil
}

func (r *Receiver) serve(w http.ResponseWriter, request *http.Request) {
	c := Call{At: time.Now(), WebhookID: request.Header.Get("Webhook-Id"), Header: request.Header}
	var err error
	if c.Body, err = io.ReadAll(request.Body); err != nil {
		return // the caller is gone: nothing was delivered
	}
	if err := json.Unmarshal(c.Body, &c.Delivery); err != nil {
		// Recorded without a timer, so that whoever waits for it sees that something else came.
		c.Delivery = event.Delivery{}
	}
	// The script goes first: what it records has happened when the call can be seen.
	a := r.scriptOf(&c)(c)
	if !r.forgets {
		r.calls.Add(c)
	}
	if err := a.write(w, request); err != nil {
		panic(http.ErrAbortHandler) // cuts the connection
	}
}

func (r *Receiver) scriptOf(c *Call) Script {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.scripts[event.Subject(c.Namespace, c.TimerID)]; ok {
		return s
	}
	return r.other
}

var errCut = errors.New("cut the connection")

func (a Answer) write(w http.ResponseWriter, request *http.Request) error {
	switch gone := request.Context().Done(); {
	case a.Cut:
		return errCut
	case a.Hang:
		<-gone
		return errCut
	case a.Delay > 0:
		wait := time.NewTimer(a.Delay)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-gone:
			return errCut
		}
	}
	if a.Before != nil {
		if request.Context().Err() != nil {
			return errCut
		}
		a.Before()
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	_, err := io.WriteString(w, a.Body)
	return err
}
