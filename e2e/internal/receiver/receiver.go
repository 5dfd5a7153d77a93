// Package receiver is an HTTP server for callbacks, which records its requests and answers them as configured for each
// timer.
//
// It imports internal/event for the format of the body, and record. It never sends requests to the service.
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
	"github.com/timerbus/timerbus/internal/event"
)

// Call is one callback as it arrived.
type Call struct {
	// At is when the header had arrived.
	At        time.Time
	WebhookID string
	Header    http.Header
	Body      []byte
	event.Delivery
}

// Lateness returns how long after its due time the call arrived.
func (c *Call) Lateness() time.Duration { return c.At.Sub(c.ScheduledFor.Time()) }

// Answer is the answer to a call; the zero value is 200 without a body.
type Answer struct {
	Status int
	Header map[string]string
	Body   string
	// Delay is the time before the answer.
	Delay time.Duration
	// Before, if set, is called immediately before the answer is sent, if the caller still waits.
	Before func()
	// Hang gives no answer until the caller closes the connection; Cut closes the connection instead of answering.
	Hang, Cut bool
}

// Again returns an answer that reschedules the timer.
func Again(in time.Duration) Answer {
	at, _ := time.Now().UTC().Add(in).MarshalText()
	return Answer{Body: fmt.Sprintf(`{"ok":true,"nextExecuteAt":%q}`, at)}
}

// Script returns the answer to a call. It may be called concurrently.
type Script func(Call) Answer

// Receiver is a running server.
type Receiver struct {
	// URL is the callback URL.
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

// Start listens on a free port of this machine. other answers for timers without a script; nil answers 200.
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
		// Kills of the caller cause broken connections, which are expected.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(listener)
	}()
	return r, nil
}

// Close stops the server and cuts off running answers.
func (r *Receiver) Close() error {
	err := r.server.Close()
	<-r.served
	return err
}

// On sets a timer's answers, one for each call in order; the last one repeats.
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

// Script sets the script of a timer.
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

// AwaitMatch waits for the first call that matches.
func (r *Receiver) AwaitMatch(ctx context.Context, match func(Call) bool) (Call, error) {
	calls, err := r.calls.Await(ctx, 1, match)
	if err != nil {
		return Call{}, err
	}
	return calls[0], nil
}

func (r *Receiver) serve(w http.ResponseWriter, request *http.Request) {
	c := Call{At: time.Now(), WebhookID: request.Header.Get("Webhook-Id"), Header: request.Header}
	var err error
	if c.Body, err = io.ReadAll(request.Body); err != nil {
		return // the caller is gone, so nothing was delivered
	}
	if err := json.Unmarshal(c.Body, &c.Delivery); err != nil {
		// It is recorded without a timer, so that a test that waits for it finds something else.
		c.Delivery = event.Delivery{}
	}
	// The script is called before the call is recorded, so its effects are visible when the call is.
	a := r.scriptOf(&c)(c)
	if !r.forgets {
		r.calls.Add(c)
	}
	if err := a.write(w, request); err != nil {
		panic(http.ErrAbortHandler) // closes the connection
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

var errCut = errors.New("connection cut")

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
