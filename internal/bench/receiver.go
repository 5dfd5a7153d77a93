package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// FirePath is the path of a receiver that counts callbacks.
const FirePath = "/fire"

// The other paths of a receiver.
const (
	expectPath = "/expect"
	reportPath = "/report"
	hostsPath  = "/hosts"
	hangPath   = "/hang"
	slowPath   = "/slow" // counted like FirePath, answered as late as hangPath
)

// maxCallback limits a callback's body, in bytes.
const maxCallback = 256 << 10

// Receiver is an HTTP handler that accepts callbacks, answers them immediately, and counts them. The load generator
// sets the expected timers and reads the report over HTTP, so that the receiver can be a separate process.
//
// It can also open additional ports that act as further hosts, some of which hang. Close closes those ports.
type Receiver struct {
	tally   tally
	hosts   hosts
	buffers sync.Pool
}

// NewReceiver returns a receiver that expects no timers yet.
func NewReceiver() *Receiver {
	return &Receiver{buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	arrived := time.Now()
	switch request.URL.Path {
	case FirePath:
		r.fire(w, request, arrived)
	case expectPath:
		r.expect(w, request)
	case reportPath:
		report := r.tally.look(request.URL.Query().Has("whole"))
		report.CPUSeconds = ownCPU().Seconds()
		tell(w, &report)
	case hostsPath:
		r.openHosts(w, request)
	case hangPath:
		r.hosts.hang(request)
	case slowPath:
		r.fire(w, request, arrived)
		r.hosts.hang(request)
	default:
		r.tally.stray()
		http.NotFound(w, request)
	}
}

func (r *Receiver) fire(w http.ResponseWriter, request *http.Request, arrived time.Time) {
	buffer, _ := r.buffers.Get().(*bytes.Buffer)
	defer r.buffers.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(io.LimitReader(request.Body, maxCallback)); err != nil {
		r.tally.stray()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id, executeAt, ok := parseDelivery(buffer.Bytes())
	if !ok {
		r.tally.stray()
		http.Error(w, "not a Timerbus callback", http.StatusBadRequest)
		return
	}
	r.tally.count(id, executeAt, arrived)
}

// expectation is the body of a request to expectPath.
type expectation struct {
	Prefix string `json:"prefix"`
	Count  int    `json:"count"`
}

func (r *Receiver) expect(w http.ResponseWriter, request *http.Request) {
	var e expectation
	err := json.NewDecoder(io.LimitReader(request.Body, 4096)).Decode(&e)
	if err == nil {
		err = r.tally.expect(e.Prefix, e.Count)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func tell(w http.ResponseWriter, report *Report) {
	body, err := json.Marshal(report)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error means that the caller has disconnected
}

// ReceiverAt is the client of a Receiver in another process.
type ReceiverAt struct{ base *url.URL }

// NewReceiverAt returns the client of the receiver at a base URL.
func NewReceiverAt(address string) (ReceiverAt, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return ReceiverAt{}, fmt.Errorf("receiver %q is not accepted: want a URL such as http://127.0.0.1:9100", address)
	}
	return ReceiverAt{u}, nil
}

// Expect resets the counts. The receiver then expects the timers 0 to count-1 of the set with the prefix.
func (r ReceiverAt) Expect(ctx context.Context, prefix string, count int) error {
	body, err := json.Marshal(expectation{Prefix: prefix, Count: count})
	if err != nil {
		return err
	}
	if _, err := exchange(ctx, http.MethodPost, r.base.JoinPath(expectPath).String(), "", body); err != nil {
		return fmt.Errorf("set the receiver's expectation: %w", err)
	}
	return nil
}

// Report returns the counts. Their distribution is included only if whole is set.
func (r ReceiverAt) Report(ctx context.Context, whole bool) (Report, error) {
	address := r.base.JoinPath(reportPath)
	if whole {
		address.RawQuery = "whole"
	}
	body, err := exchange(ctx, http.MethodGet, address.String(), "", nil)
	if err != nil {
		return Report{}, fmt.Errorf("read the receiver's report: %w", err)
	}
	var report Report
	if err := json.Unmarshal(body, &report); err != nil {
		return Report{}, fmt.Errorf("read the receiver's report: %w", err)
	}
	return report, nil
}
