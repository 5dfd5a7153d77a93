package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/client"
)

// paged answers filters page by page; the keys of pages are cursors. It answers an unknown cursor with 400.
func paged(t *testing.T, pages map[string]string) (c *client.Client, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Cursor string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		*asked = append(*asked, strings.TrimPrefix(r.URL.Path, "/api/v1/timers/")+" "+request.Cursor)
		if pages[request.Cursor] == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, pages[request.Cursor])
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func TestWalksOverAllPagesOfAFilter(t *testing.T) {
	pages := map[string]string{
		"":  `{"matched":3,"applied":2,"late":1,"skipped":1,"nextCursor":"1"}`,
		"1": `{"matched":0,"applied":0,"late":0,"skipped":0,"nextCursor":"2"}`,
		"2": `{"matched":2,"applied":2,"late":1,"skipped":0}`,
	}
	for path, call := range map[string]func(*client.Client, func(client.MatchingTotal)) (client.MatchingTotal, error){
		"delete-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.DeleteAllMatching(t.Context(), client.DeleteMatchingRequest{}, progress)
		},
		"reschedule-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.RescheduleAllMatching(t.Context(), client.RescheduleMatchingRequest{}, progress)
		},
		"retry-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.RetryAllMatching(t.Context(), client.RetryMatchingRequest{}, progress)
		},
		"pause-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.PauseAllMatching(t.Context(), client.PauseMatchingRequest{}, progress)
		},
		"purge-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.PurgeAllMatching(t.Context(), client.PurgeMatchingRequest{}, progress)
		},
	} {
		c, asked := paged(t, pages)
		var seen []int
		total, err := call(c, func(so client.MatchingTotal) { seen = append(seen, so.Matched) })
		if want := (client.MatchingTotal{Pages: 3, Matched: 5, Applied: 4, Late: 2, Skipped: 1}); err != nil || total != want {
			t.Errorf("%s: %+v, %v, want %+v", path, total, err, want)
		}
		if !slices.Equal(seen, []int{3, 3, 5}) {
			t.Errorf("%s: progress %v", path, seen)
		}
		if want := []string{path + " ", path + " 1", path + " 2"}; !slices.Equal(*asked, want) {
			t.Errorf("asked %q, want %q", *asked, want)
		}
	}
}

// A walk that fails returns the cursor at which the next one continues.
func TestAWalkThatBreaksTellsHowFarItCame(t *testing.T) {
	pages := map[string]string{"": `{"matched":3,"applied":3,"late":0,"skipped":0,"nextCursor":"1"}`}
	c, _ := paged(t, pages)
	total, err := c.DeleteAllMatching(t.Context(), client.DeleteMatchingRequest{}, nil)
	if err == nil || total.Applied != 3 || total.Cursor != "1" {
		t.Fatalf("%+v, %v", total, err)
	}
	pages["1"] = `{"matched":1,"applied":1,"late":0,"skipped":0}`
	if total, err = c.DeleteAllMatching(t.Context(), client.DeleteMatchingRequest{Cursor: total.Cursor}, nil); err != nil || total.Applied != 1 {
		t.Errorf("%+v, %v", total, err)
	}
}
