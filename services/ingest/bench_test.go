package ingest_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/services/ingest"
)

const (
	createHead = `{"namespace":"default","id":"order-`
	createTail = `","executeAt":"2031-01-31T09:00:00Z","callbackUrl":"http://127.0.0.1:9000/hooks/orders",` +
		`"payload":{"order":184277,"customer":"c-5512","items":[{"sku":"A-100","count":2},{"sku":"B-7","count":1}],"note":"leave at the door"}}`
)

// BenchmarkCreate measures a create from the parsed HTTP request to the written answer, with 64 clients.
func BenchmarkCreate(b *testing.B) {
	w := newWorld(b)
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	var n atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			body := createHead + strconv.FormatInt(n.Add(1), 10) + createTail
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1:8080/api/v1/timers/create", strings.NewReader(body))
			rec := httptest.NewRecorder()
			w.handler.ServeHTTP(rec, r)
			if rec.Code != http.StatusOK {
				b.Errorf("status %d: %s", rec.Code, rec.Body)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
}

// BenchmarkCreateOverTCP measures the same through a listener, including the clients in this process.
func BenchmarkCreateOverTCP(b *testing.B) {
	w := newWorld(b)
	server := httptest.NewUnstartedServer(w.handler)
	server.Config = ingest.NewServer(w.handler, 10*time.Second, slog.New(slog.DiscardHandler))
	server.Start()
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	var n atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			body := createHead + strconv.FormatInt(n.Add(1), 10) + createTail
			response, err := client.Post(server.URL+"/api/v1/timers/create", "application/json", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body) // otherwise the connection is not reused
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				b.Errorf("status %s", response.Status)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
}
