package bench

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDeliveriesOfOtherSystemsAreCounted(t *testing.T) {
	server := httptest.NewServer(NewReceiver())
	defer server.Close()
	at, err := NewReceiverAt(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := at.Expect(t.Context(), "p-", 2); err != nil {
		t.Fatal(err)
	}
	due := time.Now().Truncate(time.Millisecond)
	for n, when := range []time.Time{due.Add(-time.Second), due.Add(time.Hour)} {
		body := AppendDelivery(nil, "p-", n, when)
		if got := bytes.Count(body, []byte(smallPayload)); got != 1 || len(smallPayload) != SmallPayload {
			t.Errorf("%d payloads of %d bytes in %s", got, len(smallPayload), body)
		}
		response, err := server.Client().Post(server.URL+FirePath, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	got, err := at.Report(t.Context(), true)
	if err != nil || got.Received != 2 || got.Early != 1 || got.Strays != 0 || got.Lateness.Max < 1000 {
		t.Errorf("report %+v, %v", got, err)
	}
}

func TestCreate(t *testing.T) {
	var mu sync.Mutex
	bodies := map[string][]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies[r.URL.Path] = append(bodies[r.URL.Path], string(body))
		_, _ = io.WriteString(w, `{"failed":0}`)
	}))
	defer server.Close()
	target, err := NewTarget(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	c := Creation{
		Namespace: "n", Shards: 4, Prefix: "c-", Count: 5, Callback: "http://127.0.0.1:1/fire", Connections: 2, Batch: 1,
		At: func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) },
	}
	for batch, want := range map[int]int{1: 5, 2: 3} {
		clear(bodies)
		c.Batch = batch
		if took, err := target.Create(t.Context(), c); err != nil || took <= 0 {
			t.Fatalf("took %v, %v", took, err)
		}
		requests := slices.Concat(bodies[createPath], bodies[batchPath])
		if all := strings.Join(requests, ""); len(requests) != want || strings.Count(all, `"id":"c-0000000`) != 5 || len(bodies[namespacePath]) != 1 {
			t.Errorf("batches of %d: %d requests, want %d: %s", batch, len(requests), want, all)
		}
	}
	c.Batch = 0
	if _, err := target.Create(t.Context(), c); err == nil {
		t.Error("batches of 0 are accepted")
	}
}
