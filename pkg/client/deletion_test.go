package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/timerbus/timerbus/pkg/client"
)

// steps answers the requests of a deletion one after another; then it answers that there is no such namespace.
func steps(t *testing.T, answers ...string) *client.Client {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/namespaces/delete" {
			t.Errorf("asked %s", r.URL.Path)
		}
		if n == len(answers) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"NAMESPACE_NOT_FOUND","message":"there is no namespace","details":{},"timestamp":"2030-01-31T09:00:00.000Z"}`)
			return
		}
		n++
		_, _ = io.WriteString(w, answers[n-1])
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDeleteWholeNamespace(t *testing.T) {
	const (
		first = `{"pendingDeleted":500,"late":2,"finishedPurged":7,"deleted":false}`
		later = `{"pendingDeleted":3,"late":1,"finishedPurged":0,"deleted":false,"retryAfter":"1ms"}`
		last  = `{"pendingDeleted":0,"late":0,"finishedPurged":0,"deleted":true}`
	)
	request := client.DeleteNamespaceRequest{Name: "shop"}
	for what, answers := range map[string][]string{
		"all answers":      {first, later, last},
		"the last is lost": {first, later},
	} {
		seen := 0
		sum, err := steps(t, answers...).DeleteWholeNamespace(t.Context(), request, func(client.NamespaceDeletion) { seen++ })
		if want := (client.NamespaceDeletion{PendingDeleted: 503, Late: 3, FinishedPurged: 7, Deleted: true}); err != nil || sum != want || seen != 3 {
			t.Errorf("%s: %+v, %v, %d steps, want %+v in 3", what, sum, err, seen, want)
		}
	}
	if _, err := steps(t).DeleteWholeNamespace(t.Context(), request, nil); !client.IsCode(err, client.CodeNamespaceNotFound) {
		t.Errorf("deletion of an unknown namespace: %v", err)
	}
	sum, err := steps(t, first, `{"retryAfter":"soon"}`).DeleteWholeNamespace(t.Context(), request, nil)
	if err == nil || sum.PendingDeleted != 500 || sum.Deleted {
		t.Errorf("a bad answer: %+v, %v", sum, err)
	}
}
