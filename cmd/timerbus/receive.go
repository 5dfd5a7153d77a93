package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// receiver is a webhook receiver for trying the service. It prints each callback and answers as its flags say.
type receiver struct {
	answers *answers
	json    bool
	clock   timer.Clock

	mu    sync.Mutex // guards the fields below and serializes printed lines
	out   io.Writer
	count int
	worst time.Duration
}

func (p *program) receiveCommand() *cobra.Command {
	r := &receiver{out: p.stdout, clock: timer.SystemClock, answers: &answers{}}
	var listen string
	c := &cobra.Command{
		Use: "receive", Short: "Receive callbacks, print their lateness, and answer them", Args: exactly(),
		Example: `  timerbus receive                                answers 200
  timerbus receive --fail-first 2                 503, 503, then 200, for each timer
  timerbus receive --next-execute-in 5s --times 2 reschedules each timer twice by 5 s`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := atMostOne(c, "next-execute-in", "next-execute-at"); err != nil {
				return err
			}
			if err := r.answers.check(); err != nil {
				return err
			}
			return p.receive(c.Context(), r, listen)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9000", "address, host:port; port 0 selects a free port")
	c.Flags().BoolVar(&r.json, "json", false, "print one JSON object per line")
	r.answers.flags(c)
	return c
}

func (p *program) receive(ctx context.Context, r *receiver, listen string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return cannotListen("--listen", listen, err)
	}
	// Callbacks that wait for --delay end with the command.
	server := newHTTPServer(r, nil)
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	fmt.Fprintf(p.stderr, "receiving on http://%s (Ctrl-C ends it)\n", l.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("receive on %s: %w", listen, err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err = errors.Join(server.Shutdown(stopping), ended(<-served))
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(p.stderr, "%d callbacks received, the latest %s late\n", r.count, lateness(r.worst))
	return err
}

// ended returns Serve's error, or nil if the server was shut down.
func ended(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// received is one callback as --json prints it.
type received struct {
	ReceivedAt timer.Millis    `json:"receivedAt"`
	WebhookID  string          `json:"webhookId,omitempty"`
	LatenessMS float64         `json:"latenessMs"`
	Body       json.RawMessage `json:"body"`
	Status     int             `json:"status"`
	Answer     json.RawMessage `json:"answer,omitempty"`
}

// maxCallback limits a callback's body, in bytes: the largest payload and room for the other fields.
const maxCallback = 2 * timer.MaxPayload

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	at := r.clock()
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxCallback))
	if err != nil {
		status := http.StatusBadRequest
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	d, isRaw, err := event.DeliveryFromHeaders(request.Header.Get)
	shown := json.RawMessage(body)
	switch {
	case !isRaw:
		err = json.Unmarshal(body, &d)
	case err == nil:
		shown, err = json.Marshal(string(body))
		d.Payload = shown
	}
	if err != nil || d.TimerID == "" {
		r.foreign(at, request, body)
		http.Error(w, "not a Timerbus callback", http.StatusBadRequest)
		return
	}
	status, answer := r.answers.to(&d, at)
	r.print(&received{
		ReceivedAt: at, WebhookID: request.Header.Get("Webhook-Id"), Body: shown, Status: status, Answer: answer,
		LatenessMS: float64(at.Sub(d.ScheduledFor)) / float64(time.Millisecond),
	}, &d)
	if !timer.Sleep(request.Context(), r.answers.delay) {
		return // the caller has disconnected
	}
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(answer); err != nil {
		r.notef("write the answer to %s: %v", d.TimerID, err)
	}
}

func (r *receiver) print(c *received, d *event.Delivery) {
	late := c.ReceivedAt.Sub(d.ScheduledFor)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	r.worst = max(r.worst, late)
	if r.json {
		enc := json.NewEncoder(r.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(c); err != nil {
			fmt.Fprintf(r.out, "{\"error\":%q}\n", err)
		}
		return
	}
	line := fmt.Sprintf("%s  %-20s attempt %d  %9s late  %s  %s → %d %s",
		c.ReceivedAt.Time().Format("15:04:05.000"), short(d.TimerID, 40), d.Attempt, lateness(late),
		d.Namespace, short(string(d.Payload), 120), c.Status, c.Answer)
	fmt.Fprintln(r.out, printable(strings.TrimSpace(line)))
}

// foreign reports a request that is not a Timerbus callback.
func (r *receiver) foreign(at timer.Millis, request *http.Request, body []byte) {
	if r.json {
		return
	}
	r.notef("%s  %s %s is not a Timerbus callback: %s", at.Time().Format("15:04:05.000"),
		request.Method, short(request.URL.Path, 80), strconv.Quote(short(string(body), 80)))
}

func (r *receiver) notef(format string, values ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.out, printable(fmt.Sprintf(format, values...)))
}

// lateness formats a duration in milliseconds, the resolution of timers.
func lateness(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
