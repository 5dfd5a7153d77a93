package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// streams are the open streams of events.
type streams struct {
	mu    sync.Mutex
	open  int
	by    map[string]int // by the name of the caller; no zeros
	ended chan struct{}  // closed when all streams must end
	end   func()
}

func newStreams() *streams {
	s := &streams{by: map[string]int{}, ended: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	return s
}

// take registers a stream of a caller, unless the caller or the process has too many. release unregisters it.
func (s *streams) take(caller string, most, mostOfCaller int) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.by[caller] >= mostOfCaller:
		return nil, &refusal{
			status: http.StatusTooManyRequests, code: api.ErrorCodeRateLimited, retryAfter: streamRetry,
			details: details{"caller": caller, "limit": mostOfCaller},
			message: fmt.Sprintf("%s has %d streams of events in this process already; end one, or poll", caller, mostOfCaller),
		}
	case s.open >= most:
		return nil, &refusal{
			status: http.StatusServiceUnavailable, code: api.ErrorCodeUnavailable, retryAfter: streamRetry,
			details: details{"limit": most},
			message: fmt.Sprintf("this process has %d streams of events already; try again later, or poll", most),
		}
	}
	s.open++
	s.by[caller]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		if s.by[caller]--; s.by[caller] == 0 {
			delete(s.by, caller)
		}
	}), nil
}

func (s *streams) count() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(s.open)
}

// EndStreams ends the streams of events, and all later ones immediately. Call it when the http.Server shuts down, because Shutdown waits
// for open streams.
func (s *Service) EndStreams() { s.streams.end() }

const (
	// streamRetry is the Retry-After of a stream that is refused.
	streamRetry = 30 * time.Second
	// mostEvents bounds the changes of one write. If there are more, the client gets a reset.
	mostEvents = 100
)

// StreamEvents implements api.ServerInterface.
func (h *handler) StreamEvents(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		namespace, err := decode.ReadEvents(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, namespace)
		if err != nil {
			return answer{}, err
		}
		release, err := h.streams.take(from.caller.Name, h.cfg.Streams, h.cfg.StreamsOfCaller)
		if err != nil {
			return answer{}, err
		}
		return answer{stream: func() {
			defer release()
			s := &stream{handler: h, w: w, r: r, conn: http.NewResponseController(w), namespace: ns.Name}
			h.metrics.streamsEnded.WithLabelValues(s.run(r.Header.Get("Last-Event-ID"))).Inc()
		}}, nil
	})
}

// stream is one open stream. Its memory does not grow: it stores only its position in the log of changes, and reads later changes there.
type stream struct {
	*handler

	w         http.ResponseWriter
	r         *http.Request
	conn      *http.ResponseController
	namespace string
	position  changes.Position
	text      bytes.Buffer // the events of the next write
}

// run sends events until the stream ends, and returns the reason, a label of metrics.
func (s *stream) run(lastEventID string) (ended string) {
	// Clear the deadline, which is that of a short request. Ignore the error, because not all connections support deadlines.
	_ = s.conn.SetReadDeadline(time.Time{})
	header := s.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would send the events late
	defer s.setWriteDeadline()            // for the end of the answer
	s.begin(lastEventID)
	heartbeat, check := time.NewTicker(s.cfg.StreamHeartbeat), time.NewTicker(s.cfg.StreamCheck)
	defer heartbeat.Stop()
	defer check.Stop()
	for {
		s.collect()
		if s.text.Len() > 0 {
			if reason := s.flush(); reason != "" {
				return reason
			}
			heartbeat.Reset(s.cfg.StreamHeartbeat)
		}
		// Wait StreamPause between reads, so that a log with many changes, also of other namespaces, does not cause a read for each.
		if reason := s.wait(nil, heartbeat.C, check.C, time.After(s.cfg.StreamPause)); reason != "" {
			return reason
		}
		if reason := s.wait(s.cfg.Changes.Wait(s.position), heartbeat.C, check.C, nil); reason != "" {
			return reason
		}
	}
}

// begin adds the open event, and a reset event if the stream cannot continue at the client's position.
func (s *stream) begin(lastEventID string) {
	p, ok := s.cfg.Changes.Parse(lastEventID)
	if !ok {
		p = s.cfg.Changes.End()
	}
	s.position = p
	s.event("open", api.EventsOpened{Complete: s.cfg.AllChanges})
	if !ok && lastEventID != "" {
		s.reset()
	}
}

// reset adds an event that says that changes may be missing.
func (s *stream) reset() {
	s.event("reset", struct{}{})
	s.metrics.streamResets.Inc()
}

// collect adds the changes after the position.
func (s *stream) collect() {
	found, end, complete := s.cfg.Changes.Read(s.position, s.namespace, mostEvents)
	for i := range found {
		s.position = found[i].After
		s.event("change", renderChange(&found[i].Change))
	}
	s.position = end
	if !complete {
		s.reset()
	}
}

// wait waits for changes, or until pause is over. It returns why the stream must end, or "".
func (s *stream) wait(added <-chan struct{}, heartbeat, check, pause <-chan time.Time) (ended string) {
	for {
		select {
		case <-added:
			return ""
		case <-pause:
			return ""
		case <-heartbeat:
			// An event without data changes only the client's position.
			s.text.WriteString(": heartbeat\n")
			s.endEvent()
			if reason := s.flush(); reason != "" {
				return reason
			}
		case <-check:
			if caller, err := s.access.Caller(s.r); err != nil || !caller.May(access.Read, s.namespace) {
				return endedDenied
			}
		case <-s.r.Context().Done():
			return endedClient
		case <-s.streams.ended:
			return endedStopped
		}
	}
}

// Reasons for which a stream ends.
const (
	endedClient  = "client"  // the client or its connection is gone
	endedSlow    = "slow"    // the client did not read
	endedDenied  = "denied"  // the credential is not accepted any more, or cannot be checked, or the right to read was withdrawn
	endedStopped = "stopped" // the process stops
)

// flush sends the collected events. A client that does not read them in time is disconnected: the service keeps nothing for it. It
// returns why the stream must end, or "".
func (s *stream) flush() (ended string) {
	began := time.Now()
	s.setWriteDeadline()
	_, err := s.w.Write(s.text.Bytes())
	if err == nil {
		err = s.conn.Flush()
	}
	s.text.Reset()
	switch {
	case err == nil, errors.Is(err, http.ErrNotSupported):
		// On HTTP/2 a deadline also ends a stream on which nothing is being written.
		_ = s.conn.SetWriteDeadline(time.Time{})
		return ""
	case errors.Is(err, os.ErrDeadlineExceeded), time.Since(began) >= s.cfg.StreamWriteTimeout: // HTTP/2 has no such error
		return endedSlow
	default:
		return endedClient
	}
}

func (s *stream) setWriteDeadline() {
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.cfg.StreamWriteTimeout))
}

// event adds an event with the present position.
func (s *stream) event(name string, data any) {
	line, err := encode(data) // with the end of the line
	if err != nil {
		s.cfg.Logger.Error("event not encoded", "event", name, "error", err)
		return
	}
	s.text.WriteString("event: " + name + "\ndata: ")
	s.text.Write(line)
	s.endEvent()
}

// endEvent ends an event with its id, the present position.
func (s *stream) endEvent() { s.text.WriteString("id: " + s.cfg.Changes.Format(s.position) + "\n\n") }

// renderChange omits the status and the generation of a schedule: those of its row are not what the API shows for schedules.
func renderChange(c *changes.Change) api.TimerChange {
	out := api.TimerChange{Type: api.TimerChangeType(c.Type), Namespace: c.Namespace, At: instant(c.At)}
	if strings.HasPrefix(c.ID, shard.ScheduleIDPrefix) {
		out.ScheduleID = nameOf(c.ID)
		return out
	}
	out.TimerID, out.Status, out.Generation = c.ID, api.Status(c.Status), c.Generation.String()
	return out
}
