package node

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestStreamHasTheChangesOfAllServices: a process with all roles streams what its dispatcher did, and an orderly stop ends the stream.
func TestStreamHasTheChangesOfAllServices(t *testing.T) {
	var ended error
	var reading sync.WaitGroup
	inWholeOn(t, nil, func(w *whole) {
		r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, "http://127.0.0.1:8080/api/v1/events/stream", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var got []string
		reading.Go(func() {
			lines := bufio.NewScanner(answer.Body)
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					mu.Lock()
					got = append(got, data)
					mu.Unlock()
				}
			}
			ended = lines.Err()
			_ = answer.Body.Close()
		})
		w.create("a", w.wall().Add(5*time.Second))
		w.want("schedules/create", `{"id":"s","specs":[{"every":"1h"}],"timer":{"deliver":"event"}}`)
		w.want("schedules/trigger", `{"id":"s"}`)
		// There is no such topic, so each attempt fails.
		w.want("namespaces/update", `{"name":"default","settings":{"eventTopics":["absent"]}}`)
		w.want("timers/create", `{"id":"c","executeIn":"1s","topic":"absent","retryPolicy":{"maxAttempts":2,"initialInterval":"1s"}}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		t.Log(strings.Join(got, "\n"))
		if got[0] != `{"complete":true}` { // no other process can use the store in memory
			t.Errorf("the first event is %s", got[0])
		}
		for _, want := range []string{
			`"type":"created","namespace":"default","timerId":"a","status":"scheduled"`, `"type":"done","namespace":"default","timerId":"a","status":"done"`,
			`"type":"created","namespace":"default","scheduleId":"s","at"`,
			`"type":"failed","namespace":"default","timerId":"c","status":"retrying"`, `"type":"dead","namespace":"default","timerId":"c","status":"dead"`,
		} {
			if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.Contains(s, want) })); n != 1 {
				t.Errorf("%d changes with %s, want 1", n, want)
			}
		}
	}, reading.Wait)
	if ended != nil {
		t.Errorf("the stream was cut off: %v", ended)
	}
}
