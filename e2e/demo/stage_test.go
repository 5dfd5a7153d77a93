package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// TestJudgeFindsWhatIsWrong shows that the demo can fail.
func TestJudgeFindsWhatIsWrong(t *testing.T) {
	late, early := 2*time.Millisecond, -time.Millisecond
	twice := act{id: "a", deliveries: 2, lives: 1}
	for name, c := range map[string]struct {
		act     act
		seen    []delivery
		missing []string
		want    string
	}{
		"in order":  {act: twice, seen: []delivery{{"1", late}, {"1", late}}},
		"early":     {act: twice, seen: []delivery{{"1", late}, {"1", early}}, want: "1ms early"},
		"too often": {act: twice, seen: []delivery{{"1", late}, {"1", late}, {"1", late}}, want: "delivered 3 times, not 2"},
		"two lives": {act: twice, seen: []delivery{{"1", late}, {"2", late}}, want: "2 webhook-ids, not 1"},
		"deleted":   {act: act{id: "a", deleted: true}},
		"deleted in vain": {
			act: act{id: "a", deleted: true}, seen: []delivery{{"1", late}}, want: "delivered 1 times, not 0",
		},
		"missing": {act: twice, missing: []string{"a never came"}, want: "a never came"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{out: io.Discard, seen: map[string][]delivery{"a": c.seen}}
			err := s.judge(t.Context(), []act{c.act}, c.missing)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestPendingSaysWhatIsMissing uses a service with one timer, which is still scheduled.
func TestPendingSaysWhatIsMissing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"a","status":"scheduled"}`)
	}))
	defer server.Close()
	api, err := client.New(server.URL, client.WithRetry(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{api: api, seen: map[string][]delivery{"a": {{}}}}
	for want, a := range map[string]act{
		"a was delivered 1 times, not 2": {id: "a", deliveries: 2},
		"a is scheduled, not done":       {id: "a", deliveries: 1, status: "done"},
		"a is still there":               {id: "a", deleted: true},
		"":                               {id: "a", deliveries: 1, status: "scheduled"},
	} {
		if got := s.pending(t.Context(), &a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
