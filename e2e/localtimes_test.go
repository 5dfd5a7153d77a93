package e2e_test

import (
	"errors"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// TestLocalTime: a timer fires at a local time, and a local time without a zone is refused.
func TestLocalTime(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	id := w.namespace
	const ahead = 5*time.Hour + 30*time.Minute // Kolkata has this offset in all seasons
	at := time.Now().Add(time.Second).UTC().Truncate(time.Millisecond)
	local := at.Add(ahead).Format("2006-01-02T15:04:05.000")
	request := client.CreateTimerRequest{
		Namespace: w.namespace, ID: id, CallbackURL: w.receiver.URL + "/" + id, ExecuteAtLocal: local, TimeZone: "Asia/Kolkata",
	}
	made, err := w.api.CreateTimer(t.Context(), request)
	if err != nil || !made.ExecuteAt.Equal(at) || made.ExecuteAtLocal != local || made.TimeZone != "Asia/Kolkata" {
		t.Fatalf("%s was created as %+v, %v", local, made.Timer, err)
	}
	done := w.reaches(t, id, isStatus("done"))
	if done.ExecutedAt.Before(at) || done.ExecuteAtLocal != local {
		t.Errorf("executed at %v, planned for %v; %+v", done.ExecutedAt, at, done)
	}
	request.TimeZone = ""
	_, err = w.api.CreateTimer(t.Context(), request)
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Details["field"] != "timeZone" {
		t.Errorf("without a zone: %v", err)
	}
}
