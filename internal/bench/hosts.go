package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// maxHosts is the maximum number of additional ports of a receiver.
const maxHosts = 256

// hosts are additional ports of a receiver. The dispatcher treats each port as a separate host.
type hosts struct {
	mu      sync.Mutex
	servers []*http.Server
	serving sync.WaitGroup
	holdFor time.Duration
	held    chan struct{} // closed to release hanging callbacks
}

// hostsWanted is the body of a request to hostsPath. It replaces the hosts of the request before it.
type hostsWanted struct {
	Count int `json:"count"`
	// HoldSeconds is how long callbacks to hangPath and slowPath are not answered.
	HoldSeconds float64 `json:"holdSeconds"`
}

type hostsOpened struct {
	Ports []int `json:"ports"`
}

func (r *Receiver) openHosts(w http.ResponseWriter, request *http.Request) {
	var wanted hostsWanted
	err := json.NewDecoder(io.LimitReader(request.Body, 4096)).Decode(&wanted)
	if err == nil && (wanted.Count < 0 || wanted.Count > maxHosts || wanted.HoldSeconds < 0) {
		err = fmt.Errorf("count %d is not accepted: want 0 to %d, and no negative time", wanted.Count, maxHosts)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	local, _ := request.Context().Value(http.LocalAddrContextKey).(net.Addr)
	ports, err := r.hosts.open(request.Context(), r, local, wanted)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, err := json.Marshal(hostsOpened{ports})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error means that the caller has disconnected
}

// open closes the present hosts and opens new ones on the address on which the receiver listens.
func (h *hosts) open(ctx context.Context, handler http.Handler, beside net.Addr, wanted hostsWanted) ([]int, error) {
	h.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held, h.holdFor = make(chan struct{}), time.Duration(wanted.HoldSeconds*float64(time.Second))
	if wanted.Count == 0 {
		return nil, nil
	}
	if beside == nil {
		return nil, errors.New("the address of this receiver's listener is unknown")
	}
	host, _, err := net.SplitHostPort(beside.String())
	if err != nil {
		return nil, err
	}
	ports := make([]int, 0, wanted.Count)
	for range wanted.Count {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, err
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: requestTimeout}
		h.servers = append(h.servers, server)
		h.serving.Go(func() { _ = server.Serve(l) }) // returns when the server is closed
		ports = append(ports, n)
	}
	return ports, nil
}

// hang delays the answer of a callback until holdFor has passed, the hosts are closed, or the caller disconnects.
func (h *hosts) hang(request *http.Request) {
	_, _ = io.Copy(io.Discard, io.LimitReader(request.Body, maxCallback)) // so that the server notices a disconnect
	h.mu.Lock()
	held, holdFor := h.held, h.holdFor
	h.mu.Unlock()
	t := time.NewTimer(holdFor)
	defer t.Stop()
	select {
	case <-t.C:
	case <-held:
	case <-request.Context().Done():
	}
}

// close releases hanging callbacks and closes the ports.
func (h *hosts) close() {
	h.mu.Lock()
	servers := h.servers
	h.servers = nil
	if h.held != nil {
		close(h.held)
		h.held = nil
	}
	h.mu.Unlock()
	for _, s := range servers {
		_ = s.Close() // errors of closing connections do not matter
	}
	h.serving.Wait()
}

// Close closes the receiver's additional ports.
func (r *Receiver) Close() { r.hosts.close() }

// openHosts requests additional ports from the receiver, and returns their base URLs as the service reaches them.
func (r *run) openHosts(ctx context.Context, count int, hold time.Duration) ([]string, error) {
	body, err := json.Marshal(hostsWanted{Count: count, HoldSeconds: hold.Seconds()})
	if err != nil {
		return nil, err
	}
	answer, err := exchange(ctx, http.MethodPost, r.receiver.base.JoinPath(hostsPath).String(), "", body)
	if err != nil {
		return nil, fmt.Errorf("open hosts of the receiver: %w", err)
	}
	var opened hostsOpened
	if err := json.Unmarshal(answer, &opened); err != nil {
		return nil, fmt.Errorf("open hosts of the receiver: %w", err)
	}
	callback, err := url.Parse(r.Callback)
	if err != nil {
		return nil, err
	}
	addresses := make([]string, len(opened.Ports))
	for i, port := range opened.Ports {
		addresses[i] = "http://" + net.JoinHostPort(callback.Hostname(), strconv.Itoa(port))
	}
	return addresses, nil
}
