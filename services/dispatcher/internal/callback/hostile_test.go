package callback

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log" //nolint:depguard // net/http logs with package log.
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// hostile is a receiver that reads the header of a request and then misbehaves on the connection.
type hostile struct {
	name string
	do   func(c net.Conn, gone <-chan struct{})
	// status and verdict are the expected results, for one attempt of many.
	status  int
	verdict Kind
	reason  string
	// waits: the call ends by the callback timeout.
	waits bool
}

const headOK = "HTTP/1.1 200 OK\r\n"

func write(c net.Conn, parts ...string) bool {
	for _, p := range parts {
		if _, err := io.WriteString(c, p); err != nil {
			return false
		}
	}
	return true
}

// forever writes repeatedly until the other side closes the connection. With a pause it writes slowly.
func forever(c net.Conn, gone <-chan struct{}, pause time.Duration, what string) {
	for write(c, what) {
		if pause == 0 {
			continue
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-gone:
			t.Stop()
			return
		}
	}
}

func hostiles() []hostile {
	bomb := gzipBomb()
	return []hostile{
		{name: "huge answer with a length", verdict: Done, status: 200, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK, "Content-Length: 1099511627776\r\n\r\n")
			forever(c, gone, 0, strings.Repeat("x", 64<<10))
		}},
		{name: "huge answer in chunks", verdict: Done, status: 200, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK, "Transfer-Encoding: chunked\r\n\r\n")
			forever(c, gone, 0, "10000\r\n"+strings.Repeat("x", 0x10000)+"\r\n")
		}},
		{name: "huge answer to an error", verdict: Retry, status: 500, reason: "500", do: func(c net.Conn, gone <-chan struct{}) {
			write(c, "HTTP/1.1 500 No\r\n\r\n")
			forever(c, gone, 0, strings.Repeat("x", 64<<10))
		}},
		{name: "slow header", verdict: Retry, waits: true, reason: "within", do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK)
			forever(c, gone, 10*time.Millisecond, "X-A: b\r\n")
		}},
		{name: "header that never ends in one line", verdict: Retry, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK, "X-A: ")
			forever(c, gone, 0, strings.Repeat("x", 4096))
		}},
		{name: "header flood", verdict: Retry, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK)
			forever(c, gone, 0, strings.Repeat("X-Flood: y\r\n", 100))
		}},
		{name: "flood of interim answers", verdict: Retry, do: func(c net.Conn, gone <-chan struct{}) {
			forever(c, gone, 0, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
		}},
		{name: "slow body", verdict: Retry, status: 200, waits: true, reason: "within", do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK, "Content-Length: 60000\r\n\r\n")
			forever(c, gone, 10*time.Millisecond, "x")
		}},
		{name: "nothing at all", verdict: Retry, waits: true, reason: "within", do: func(_ net.Conn, gone <-chan struct{}) { <-gone }},
		{name: "not HTTP", verdict: Retry, reason: "malformed", do: func(c net.Conn, _ <-chan struct{}) {
			write(c, "220 mail.example ESMTP\r\n")
		}},
		{name: "status that is no number", verdict: Retry, reason: "malformed", do: func(c net.Conn, _ <-chan struct{}) {
			write(c, "HTTP/1.1 abc OK\r\n\r\n")
		}},
		{name: "header without colon", verdict: Retry, reason: "malformed", do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "nonsense\r\n\r\n")
		}},
		{name: "two lengths", verdict: Retry, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello")
		}},
		{name: "negative length", verdict: Retry, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Content-Length: -1\r\n\r\n")
		}},
		{name: "less than its length", verdict: Retry, status: 200, reason: "unexpected EOF", do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Content-Length: 100\r\n\r\n", `{"ok":true}`)
		}},
		// A client might take a second answer for that of the next request on the connection, which goes to the same
		// receiver.
		{name: "more than its length", verdict: Done, status: 200, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Content-Length: 11\r\n\r\n", `{"ok":true}`, headOK, "Content-Length: 11\r\n\r\n", `{"ok":true}`)
		}},
		{name: "chunks that are none", verdict: Retry, status: 200, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n")
		}},
		{name: "chunk of a size beyond all numbers", verdict: Retry, status: 200, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("f", 40), "\r\n{}")
		}},
		{name: "chunks with endless extensions", verdict: Retry, status: 200, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK, "Transfer-Encoding: chunked\r\n\r\n")
			forever(c, gone, 0, "1;"+strings.Repeat("x", 4000)+"\r\nx\r\n")
		}},
		{name: "trailer flood", verdict: Retry, status: 200, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, headOK, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
			forever(c, gone, 0, strings.Repeat("X-T: y\r\n", 100))
		}},
		{name: "encoding that nobody knows", verdict: Retry, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
		}},
		{name: "gzip bomb", verdict: Done, status: 200, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, headOK, "Content-Encoding: gzip\r\n", fmt.Sprintf("Content-Length: %d\r\n\r\n", len(bomb)), string(bomb))
		}},
		{name: "HTTP/1.0", verdict: Rescheduled, status: 200, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, "HTTP/1.0 200 OK\r\n\r\n", `{"ok":true,"nextExecuteAt":"2030-01-31T10:00:00Z"}`)
		}},
		{name: "HTTP/0.9", verdict: Retry, reason: "malformed", do: func(c net.Conn, _ <-chan struct{}) { write(c, `{"ok":true}`) }},
		{name: "another protocol is switched to", verdict: Retry, status: 101, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
			forever(c, gone, 0, strings.Repeat("x", 4096))
		}},
		{name: "reset before the answer", verdict: Retry, do: func(c net.Conn, _ <-chan struct{}) { abort(c) }},
		{name: "reset within the header", verdict: Retry, do: func(c net.Conn, _ <-chan struct{}) { write(c, headOK, "X-A"); abort(c) }},
		{name: "close without an answer", verdict: Retry, reason: "EOF", do: func(net.Conn, <-chan struct{}) {}},
		{name: "redirect loop", verdict: Retry, status: 307, reason: "redirects are not followed", do: func(c net.Conn, _ <-chan struct{}) {
			write(c, "HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}},
		{name: "redirect to inside", verdict: Retry, status: 302, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}},
	}
}

// gzipBomb returns 100 MiB of JSON, compressed to about 100 KiB.
func gzipBomb() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	for range 100 {
		_, _ = z.Write(chunk)
	}
	_ = z.Close()
	return b.Bytes()
}

func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}

// serve handles every connection with h.do until the test ends.
func (h *hostile) serve(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					h.do(c, gone)
				}
			})
		}
	})
	t.Cleanup(func() { close(gone); l.Close(); serving.Wait() })
	return "http://" + l.Addr().String() + "/"
}

// TestHostileReceivers: for every hostile receiver, the call ends within the timeout with one answer of at most 64 KiB,
// other calls work as before, and no connection, goroutine or memory leaks.
func TestHostileReceivers(t *testing.T) {
	const timeout = 250 * time.Millisecond
	log.SetOutput(io.Discard) // net/http logs answers without a request
	defer log.SetOutput(os.Stderr)
	caller := NewHTTPCaller(&HTTP{PerHost: 8}, "test")
	healthy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok":true}`) }))
	defer healthy.Close()
	call := func(url string, timeout time.Duration) (Answer, time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		tm := aTimer()
		tm.CallbackURL, tm.CallbackTimeout = url, timeout
		began := time.Now()
		a := caller.Call(ctx, Request{Timer: tm, At: now})
		return a, time.Since(began)
	}
	call(healthy.URL, 10*time.Second)
	caller.transport.CloseIdleConnections()
	before, memory := settled(t, 0), heap()
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			url := h.serve(t)
			const times = 8
			var calls sync.WaitGroup
			for range times {
				calls.Go(func() {
					// Calls that end without the timeout may take as long as a busy machine needs.
					limit := 20 * time.Second
					if h.waits {
						limit = timeout
					}
					a, took := call(url, limit)
					v := Classify(aTimer(), a, timer.StatusCodes{}, now, middle)
					if h.waits {
						tm := aTimer()
						tm.CallbackTimeout = limit
						v = Classify(tm, a, timer.StatusCodes{}, now, middle)
					}
					switch {
					case a.Status != h.status || v.Kind != h.verdict || !strings.Contains(v.Reason, h.reason):
						t.Errorf("status %d, %s, %q, %v", a.Status, kindName[v.Kind], v.Reason, a.Err)
					case len(a.Body) > MaxBody || len(v.Reason) > maxReason || len(v.Body) > maxQuoted:
						t.Errorf("%d bytes of body, %d of reason", len(a.Body), len(v.Reason))
					case took > limit+10*time.Second:
						t.Errorf("took %v of %v", took, limit)
					}
				})
			}
			if a, _ := call(healthy.URL, 20*time.Second); a.Status != 200 || a.Err != nil {
				t.Errorf("meanwhile another receiver: %+v", a)
			}
			calls.Wait()
		})
	}
	caller.transport.CloseIdleConnections()
	if after := settled(t, before+2); after > before+2 {
		stacks := make([]byte, 64<<10)
		t.Errorf("%d goroutines before, %d after\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
	if grown := heap() - memory; grown > 8<<20 {
		t.Errorf("memory has grown by %d MiB", grown>>20)
	}
}

// settled waits until no more than most goroutines exist, or for 10 s.
func settled(t *testing.T, most int) (n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		runtime.Gosched()
		n = runtime.NumGoroutine()
		if n <= most || most == 0 || time.Now().After(deadline) {
			return n
		}
		runtime.GC()
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestABodyHasItsOwnDeadline: once the header has arrived, the body has Timeouts.Body and not the remaining callback
// timeout.
func TestABodyHasItsOwnDeadline(t *testing.T) {
	const bodyTimeout = 200 * time.Millisecond
	h := hostile{do: func(c net.Conn, gone <-chan struct{}) {
		write(c, headOK, "Content-Length: 60000\r\n\r\n")
		forever(c, gone, bodyTimeout/8, "x")
	}}
	tm := aTimer()
	tm.CallbackURL = h.serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	a := NewHTTPCaller(&HTTP{PerHost: 1, Timeouts: Timeouts{Body: bodyTimeout}}, "test").Call(ctx, Request{Timer: tm, At: now})
	if took := time.Since(began); took < bodyTimeout || ctx.Err() != nil || a.Status != 200 || a.Err == nil {
		t.Fatalf("after %v: %d, %v", took, a.Status, a.Err)
	}
	if v := Classify(tm, a, timer.StatusCodes{}, now, middle); v.Kind != Retry || !strings.Contains(v.Reason, "200ms after its header") {
		t.Errorf("%+v", v)
	}
}
