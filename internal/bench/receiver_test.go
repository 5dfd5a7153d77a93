package bench

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestTallyTellsDuplicatesEarlyOnesAndStraysApart(t *testing.T) {
	var c tally
	if err := c.expect("a-", 3); err != nil {
		t.Fatal(err)
	}
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	c.count([]byte("a-00000000"), noon, at(1))
	c.count([]byte("a-00000001"), noon, at(-2)) // early
	c.count([]byte("a-00000000"), noon, at(3))  // duplicate
	c.count([]byte("a-00000003"), noon, at(4))  // beyond the set
	c.count([]byte("b-00000001"), noon, at(5))  // of another set
	c.count([]byte("a-00000002"), noon, at(10))

	got := c.look(true)
	want := Report{
		Expected: 3, Received: 3, Duplicates: 1, Strays: 2, Early: 1, First: at(1), Last: at(10),
		Lateness: Lateness{P50: 1, P99: 10, P999: 10, Max: 10},
	}
	if got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
	if err := c.expect("b-", 1); err != nil {
		t.Fatal(err)
	}
	if got := c.look(true); got != (Report{Expected: 1}) {
		t.Errorf("after expecting anew: %+v", got)
	}
	for _, count := range []int{-1, maxSet + 1} {
		if err := c.expect("c-", count); err == nil {
			t.Errorf("expects %d", count)
		}
	}
}

func TestReceiverOverHTTP(t *testing.T) {
	server := httptest.NewServer(NewReceiver())
	defer server.Close()
	at, err := NewReceiverAt(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := at.Expect(t.Context(), "a-", 2); err != nil {
		t.Fatal(err)
	}
	post := func(path string, body []byte) int {
		response, err := http.Post(server.URL+path, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	due := time.Now().Add(-time.Second)
	for path, status := range map[string]int{FirePath: http.StatusOK, "/elsewhere": http.StatusNotFound} {
		if got := post(path, delivery(t, "a-00000001", due)); got != status {
			t.Errorf("%s answers %d, want %d", path, got, status)
		}
	}
	for path, body := range map[string]string{FirePath: "{}", expectPath: "no", expectPath + "?": `{"count":-1}`} {
		if got := post(path, []byte(body)); got != http.StatusBadRequest {
			t.Errorf("%s with %s answers %d, want 400", path, body, got)
		}
	}
	report, err := at.Report(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if report.Received != 1 || report.Strays != 2 || report.Early != 0 || report.Lateness.Max < 1000 || report.Lateness.Max > 60_000 {
		t.Errorf("report %+v, want one timer about a second late and two strays", report)
	}
}

func TestReceiverThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	at, err := NewReceiverAt(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := at.Report(t.Context(), false); err == nil || !strings.Contains(err.Error(), "receiver") || !strings.Contains(err.Error(), "404") {
		t.Errorf("error %v, want one that names the receiver and its answer", err)
	}
	for _, address := range []string{"", "127.0.0.1:9100", "ftp://x"} {
		if _, err := NewReceiverAt(address); err == nil {
			t.Errorf("%q passes as a receiver", address)
		}
	}
}
