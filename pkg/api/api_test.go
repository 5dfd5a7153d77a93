package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
)

func TestUpdateTellsKeepFromClear(t *testing.T) {
	got, err := json.Marshal(api.UpdateTimerRequest{
		TimerID:     "a",
		CallbackURL: api.Clear[string](),
		Deliver:     api.Set(api.DeliverEvent),
		RetryPolicy: api.Set(api.RetryPolicyInput{MaxAttempts: api.Set(3), MaxInterval: api.Clear[string]()}),
	})
	const want = `{"callbackUrl":null,"deliver":"event","retryPolicy":{"maxAttempts":3,"maxInterval":null},"timerId":"a"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	var back api.UpdateTimerRequest
	if err := json.Unmarshal([]byte(want), &back); err != nil {
		t.Fatal(err)
	}
	if d, ok := back.Deliver.Value(); !ok || d != api.DeliverEvent || !back.CallbackURL.Cleared() || !back.CorrelationID.IsZero() {
		t.Errorf("read back as %+v", back)
	}
}

func TestInstantHasMilliseconds(t *testing.T) {
	for in, want := range map[string]string{
		`"2030-01-31T10:00:00+01:00"`:      `"2030-01-31T09:00:00.000Z"`,
		`"2030-01-31T09:00:00.123456789Z"`: `"2030-01-31T09:00:00.123Z"`,
	} {
		var i api.Instant
		if err := json.Unmarshal([]byte(in), &i); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(i); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v; want %s", in, got, err, want)
		}
	}
	if _, err := json.Marshal(api.At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))); err == nil {
		t.Error("a year that RFC 3339 cannot write was written")
	}
}
