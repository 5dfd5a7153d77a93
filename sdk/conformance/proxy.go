package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Fault is what the proxy does with one request. The zero value passes the request on.
type Fault struct {
	// Status is an answer of the proxy itself: the service does not get the request.
	Status int `json:"status,omitempty"`
	// RetryAfter is the header of this answer, in seconds.
	RetryAfter string `json:"retryAfter,omitempty"`
	// Body is the JSON of this answer, and Text a body that is not JSON, or empty. By default it is the service's error for Status.
	Body json.RawMessage `json:"body,omitempty"`
	Text *string         `json:"text,omitempty"`
	// Connection is what happens to the connection: ResetBefore, ResetAfter, Cut, Close or Refuse.
	Connection string `json:"connection,omitempty"`
	// For is how long connections are refused, such as "200ms".
	For string `json:"for,omitempty"`
	// Delay is how long the answer of the service is held back, such as "1s".
	Delay string `json:"delay,omitempty"`
}

// The values of Fault.Connection.
const (
	// ResetBefore resets the connection, and the service does not get the request.
	ResetBefore = "reset-before"
	// ResetAfter resets the connection after the service has answered.
	ResetAfter = "reset-after"
	// Cut sends half of the service's answer, and resets the connection.
	Cut = "cut"
	// Close sends the service's answer, and closes the connection, so that the client cannot use it again.
	Close = "close"
	// Refuse refuses connections from the moment at which the fault is set. It does not wait for a request.
	Refuse = "refuse"
)

// Prefix begins the paths of the proxy itself. All other paths are the service's.
const Prefix = "/conformance/"

// Token is the token of the service in conformance tests. API keys need a service with a token.
const Token = "conformance"

// Environment returns the variables of the service in conformance tests: Token, and a key for the secrets of namespaces.
func Environment() []string {
	return []string{"TIMERBUS_TOKEN=" + Token, "TIMERBUS_SECRET_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}
}

// codes are the error codes of the service that the proxy answers with.
var codes = map[int]string{429: "RATE_LIMITED", 500: "INTERNAL_ERROR", 503: "UNAVAILABLE", 504: "OUTCOME_UNKNOWN"}

// maxBody bounds bodies of requests and answers, in bytes.
const maxBody = 64 << 20

// Proxy passes requests to the service, with faults.
type Proxy struct {
	service string // URL of the service
	address string // host:port
	control *http.ServeMux
	client  *http.Client

	running sync.WaitGroup // the servers, and the pauses in which connections are refused

	mu       sync.Mutex
	closed   bool
	faults   []Fault
	tries    []string // paths of the requests since the faults were set
	server   *http.Server
	listener net.Listener
}

// Start starts a proxy for the service at this URL, on a free port.
func Start(service string) (*Proxy, error) {
	p := &Proxy{service: service, address: "127.0.0.1:0", control: http.NewServeMux(), client: &http.Client{Timeout: time.Minute}}
	p.Handle("POST "+Prefix+"faults", p.setFaults)
	p.Handle("GET "+Prefix+"tries", p.getTries)
	p.Handle("POST "+Prefix+"receiver/{status}", receive)
	if err := p.listen(); err != nil {
		return nil, err
	}
	p.address = p.listener.Addr().String()
	return p, nil
}

// URL is the address of the proxy.
func (p *Proxy) URL() string { return "http://" + p.address }

// Handle adds a path of the proxy itself, as for http.ServeMux. It must be called before the first request.
func (p *Proxy) Handle(pattern string, handler http.HandlerFunc) {
	p.control.HandleFunc(pattern, handler)
}

// Close closes all connections, and waits for the end of a pause in which connections are refused.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	err := p.server.Close()
	p.mu.Unlock()
	p.running.Wait()
	return err
}

// listen opens the port. The caller holds p.mu, unless it is Start.
func (p *Proxy) listen() error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", p.address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	p.listener = listener
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	server := p.server
	p.running.Go(func() { _ = server.Serve(listener) })
	return nil
}

func (p *Proxy) setFaults(w http.ResponseWriter, r *http.Request) {
	var faults []Fault
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&faults); err != nil {
		http.Error(w, "faults: "+err.Error(), http.StatusBadRequest)
		return
	}
	var refused time.Duration
	for i := range faults {
		duration, err := faults[i].check()
		if err != nil {
			http.Error(w, fmt.Sprintf("faults[%d].%v", i, err), http.StatusBadRequest)
			return
		}
		refused = max(refused, duration)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries = nil
	p.faults = slices.DeleteFunc(faults, func(f Fault) bool { return f.Connection == Refuse })
	if refused > 0 {
		p.refuse(w, refused)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// check returns an error for a value that the proxy does not know, and how long the fault refuses connections.
func (f *Fault) check() (refused time.Duration, err error) {
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return 0, fmt.Errorf("status %d is not accepted: want 200 to 599", f.Status)
	}
	if f.Delay != "" {
		if _, err := timer.ParseDuration(f.Delay); err != nil {
			return 0, fmt.Errorf("delay: %w", err)
		}
	}
	switch f.Connection {
	case "", ResetBefore, ResetAfter, Cut, Close:
		if f.For != "" {
			return 0, fmt.Errorf("for %q is not accepted: only a connection %q has it", f.For, Refuse)
		}
		return 0, nil
	case Refuse:
		refused, err = timer.ParseDuration(f.For)
		if err != nil {
			return 0, fmt.Errorf("for: %w", err)
		}
		if refused <= 0 {
			return 0, fmt.Errorf("for %q is not accepted: want a positive duration", f.For)
		}
		return refused, nil
	}
	want := []string{ResetBefore, ResetAfter, Cut, Close, Refuse}
	return 0, fmt.Errorf("connection %q is not accepted: want one of %q", f.Connection, want)
}

// refuse closes the idle connections, answers the request that set the fault, and listens again after the duration. It needs p.mu.
func (p *Proxy) refuse(w http.ResponseWriter, duration time.Duration) {
	_ = p.listener.Close()
	p.server.SetKeepAlivesEnabled(false)
	w.WriteHeader(http.StatusNoContent)
	_ = http.NewResponseController(w).Flush()
	server := p.server
	p.running.Go(func() {
		_ = server.Close()
		time.Sleep(duration)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return
		}
		if err := p.listen(); err != nil {
			panic(err) // another process has taken the port
		}
	})
}

func (p *Proxy) getTries(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	raw, err := json.Marshal(struct {
		Tries int      `json:"tries"`
		Paths []string `json:"paths"`
	}{len(p.tries), append([]string{}, p.tries...)})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(raw)
}

// receive answers a callback with the status in its path, and the body in the query's parameter "answer".
func receive(w http.ResponseWriter, r *http.Request) {
	status, err := strconv.Atoi(r.PathValue("status"))
	if err != nil {
		http.Error(w, "status: "+err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, r.URL.Query().Get("answer")) //nolint:gosec // it is for programs, and listens on loopback
}

// next removes the first fault.
func (p *Proxy) next(path string) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries = append(p.tries, path)
	if len(p.faults) == 0 {
		return Fault{}
	}
	f := p.faults[0]
	p.faults = p.faults[1:]
	return f
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, Prefix) {
		p.control.ServeHTTP(w, r)
		return
	}
	// The body is read in all cases, so that a reset is not an answer to a request that is still being sent.
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		reset(w)
		return
	}
	fault := p.next(strings.TrimPrefix(r.URL.Path, "/api/v1/"))
	switch {
	case fault.Connection == ResetBefore:
		reset(w)
		return
	case fault.Status != 0:
		answer(w, fault)
		return
	}
	answered, err := p.pass(r, body)
	if err != nil || fault.Connection == ResetAfter {
		reset(w)
		return
	}
	if fault.Delay != "" {
		delay, _ := timer.ParseDuration(fault.Delay) // check has parsed it
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
			return
		}
	}
	maps.Copy(w.Header(), answered.header)
	if fault.Connection == Close {
		w.Header().Set("Connection", "close")
	}
	content := answered.body
	w.WriteHeader(answered.status)
	if fault.Connection == Cut {
		_, _ = w.Write(content[:len(content)/2])
		_ = http.NewResponseController(w).Flush()
		reset(w)
		return
	}
	_, _ = w.Write(content)
}

// response is an answer of the service.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (p *Proxy) pass(r *http.Request, body []byte) (response, error) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, p.service+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	request.Header = r.Header.Clone()
	answered, err := p.client.Do(request)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = answered.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(answered.Body, maxBody))
	return response{answered.StatusCode, answered.Header, content}, err
}

func answer(w http.ResponseWriter, f Fault) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	body := f.Body
	if f.Text != nil {
		body = []byte(*f.Text)
	} else {
		w.Header().Set("Content-Type", "application/json")
		if body == nil {
			const format = `{"error":%q,"message":"a fault of the script","details":{},"timestamp":"2030-01-31T09:00:00.000Z"}`
			body = fmt.Appendf(nil, format, cmp.Or(codes[f.Status], "INTERNAL_ERROR"))
		}
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}

// reset closes the connection with a TCP reset.
func reset(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}
