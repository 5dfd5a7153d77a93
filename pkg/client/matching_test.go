package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

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
		*asked = append(*asked, strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "timers/")+" "+request.Cursor)
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
		"schedules/pause-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.PauseAllMatchingSchedules(t.Context(), client.PauseMatchingSchedulesRequest{}, progress)
		},
		"schedules/resume-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.ResumeAllMatchingSchedules(t.Context(), client.ResumeMatchingSchedulesRequest{}, progress)
		},
		"schedules/delete-matching": func(c *client.Client, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
			return c.DeleteAllMatchingSchedules(t.Context(), client.DeleteMatchingSchedulesRequest{}, progress)
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

// TestAResumeKeepsItsRateAfterALostAnswer: the page may have been applied, so the next timers become due after its seconds.
func TestAResumeKeepsItsRateAfterALostAnswer(t *testing.T) {
	for name, lose := range map[string]func(w http.ResponseWriter){
		"broken connection": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"outcome unknown": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusGatewayTimeout)
			_, _ = io.WriteString(w, `{"error":"OUTCOME_UNKNOWN","message":"m"}`)
		},
		"error of a proxy": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
	} {
		var starts []time.Time
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request client.ResumeMatchingRequest
			if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
				t.Error(err)
			}
			starts = append(starts, request.StartAt.Time)
			switch len(starts) {
			case 1:
				_, _ = io.WriteString(w, `{"matched":4,"applied":4,"skipped":0,"nextCursor":"1","nextStartAt":"2100-01-01T00:00:02.000Z"}`)
			case 2:
				lose(w)
			default:
				_, _ = io.WriteString(w, `{"matched":4,"applied":4,"skipped":0,"nextStartAt":"2100-01-01T00:00:06.000Z"}`)
			}
		}))
		c, err := client.New(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		request := client.ResumeMatchingRequest{ResumeRate: 2, Limit: 4}
		var seen []time.Time
		total, err := c.ResumeAllMatching(t.Context(), request, func(so client.MatchingTotal) { seen = append(seen, so.StartAt.Time) })
		if err != nil { // the caller decides whether to continue
			if !client.MayBeApplied(err) {
				t.Errorf("%s: %v", name, err)
			}
			request.Cursor, request.StartAt = total.Cursor, total.StartAt
			_, err = c.ResumeAllMatching(t.Context(), request, nil)
		}
		server.Close()
		at := time.Date(2100, 1, 1, 0, 0, 2, 0, time.UTC)
		if want := []time.Time{{}, at, at.Add(2 * time.Second)}; err != nil || !slices.EqualFunc(starts, want, time.Time.Equal) {
			t.Errorf("%s: pages begin at %v, %v, want %v", name, starts, err, want)
		}
		if len(seen) == 0 || !seen[0].Equal(at) {
			t.Errorf("%s: progress has the times %v, want %v first", name, seen, at)
		}
	}
}
