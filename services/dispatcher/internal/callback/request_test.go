package callback

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
)

// TestRequestsOfUsersArriveUnchanged compares every byte of the body, for all methods, and checks the signature over it.
func TestRequestsOfUsersArriveUnchanged(t *testing.T) {
	type arrived struct {
		*http.Request

		body []byte
	}
	var got arrived
	c, url, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		got.Request = r
		got.body, _ = io.ReadAll(r.Body)
	})
	secret, err := webhook.ParseSecret("whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	everyByte := make([]byte, 256)
	for i := range everyByte {
		everyByte[i] = byte(i)
	}
	for _, method := range timer.Methods() {
		bodies := [][]byte{nil, {}, []byte("ä"), []byte(`{"ok": 1}`), everyByte, slices.Repeat([]byte{0xff}, timer.MaxPayload)}
		if method == http.MethodGet {
			bodies = bodies[:1]
		}
		for _, body := range bodies {
			tm := aTimer()
			tm.ID, tm.UUID = "Bestellung 17/ä", timer.UUIDOf(tm.Namespace, "Bestellung 17/ä")
			tm.CallbackURL, tm.Attempts, tm.DueAt, tm.CorrelationID = url+"/x?a=b", 2, now, "trace-1"
			tm.Request, tm.Payload, tm.Headers = timer.Request{Method: method}, body, "X-Team: billing\n"
			if body != nil {
				tm.Request.ContentType = `text/plain; charset="utf-8"`
			}
			a := c.Call(t.Context(), Request{Timer: tm, At: now.Add(5 * time.Millisecond), Profile: &Profile{Secrets: []webhook.Secret{secret}}})
			if a.Err != nil || a.Status != 200 {
				t.Fatalf("%s with %d bytes: %+v", method, len(body), a)
			}
			if got.Method != method || got.RequestURI != "/x?a=b" || string(got.body) != string(body) || got.ContentLength != int64(len(body)) {
				t.Errorf("%s with %d bytes: received %s %s with %d bytes", method, len(body), got.Method, got.RequestURI, len(got.body))
			}
			for name, want := range map[string]string{
				"Content-Type": tm.Request.ContentType, "User-Agent": "timerbus/1.2.3", "X-Team": "billing",
				"Webhook-Id": tm.WebhookID(), "X-Correlation-Id": "trace-1",
				"Webhook-Signature":  webhook.Sign([]webhook.Secret{secret}, tm.WebhookID(), now.Time(), body),
				"Timerbus-Namespace": tm.Namespace, "Timerbus-Timer-Id": "Bestellung%2017/%C3%A4", "Timerbus-Attempt": "3",
				"Timerbus-Generation": "7", "Timerbus-Scheduled-For": now.String(), "Timerbus-Execute-At": tm.ExecuteAt.String(),
			} {
				if h := got.Header.Get(name); h != want {
					t.Errorf("%s with %d bytes: %s is %q, want %q", method, len(body), name, h, want)
				}
			}
			d, ok, err := event.DeliveryFromHeaders(got.Header.Get)
			want := event.DeliveryOf(tm)
			want.Payload = nil
			if !ok || err != nil || d.TimerID != want.TimerID || d.ScheduledFor != want.ScheduledFor || d.ExecuteAt != want.ExecuteAt ||
				d.Attempt != want.Attempt || d.Generation != want.Generation || d.CorrelationID != want.CorrelationID {
				t.Errorf("delivery from the headers: %+v, %t, %v; want %+v", d, ok, err, want)
			}
		}
	}
}

// TestTheUsualRequestHasNoExtraHeaders: its body has their fields.
func TestTheUsualRequestHasNoExtraHeaders(t *testing.T) {
	var header http.Header
	c, url, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) { header = r.Header })
	call(t, c, url)
	for name := range header {
		if strings.HasPrefix(name, "Timerbus-") {
			t.Errorf("header %s", name)
		}
	}
	if _, ok, err := event.DeliveryFromHeaders(header.Get); ok || err != nil {
		t.Errorf("a delivery from the headers: %t, %v", ok, err)
	}
}

// TestOnlyAnswersThatMayRescheduleAreRead: the answer of a JSON API may have an unrelated member ok or nextExecuteAt.
func TestOnlyAnswersThatMayRescheduleAreRead(t *testing.T) {
	for _, body := range []string{`{"ok":false}`, `{"ok":true,"nextExecuteAt":"2031-01-01T00:00:00Z"}`, `{"ok":"perhaps"}`} {
		a := Answer{Status: 200, Body: []byte(body)}
		tm := aTimer()
		usual := Classify(tm, a, timer.StatusCodes{}, now, middle)
		tm.Request = timer.Request{Method: "PUT", Reschedule: true}
		if v := Classify(tm, a, timer.StatusCodes{}, now, middle); v != usual || v.Kind == Done {
			t.Errorf("%s: %+v, want %+v", body, v, usual)
		}
		tm.Request.Reschedule = false
		if v := Classify(tm, a, timer.StatusCodes{}, now, middle); v.Kind != Done {
			t.Errorf("%s: %+v, want done", body, v)
		}
		a.Status = 500
		if v := Classify(tm, a, timer.StatusCodes{}, now, middle); v.Kind != Retry {
			t.Errorf("%s with status 500: %+v, want a retry", body, v)
		}
	}
}

func TestBrokenDeliveryHeaders(t *testing.T) {
	good := map[string]string{}
	d := event.DeliveryOf(aTimer())
	d.EachHeader(func(name, value string) { good[name] = value })
	for name, value := range map[string]string{
		"Timerbus-Timer-Id": "%zz", "Timerbus-Attempt": "first", "Timerbus-Execute-At": "now", "Timerbus-Scheduled-For": "",
	} {
		get := func(n string) string {
			if n == name {
				return value
			}
			return good[n]
		}
		if _, _, err := event.DeliveryFromHeaders(get); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q: %v", name, value, err)
		}
	}
	if _, err := json.Marshal(good); err != nil || len(good) != 6 {
		t.Errorf("%v, %v", good, err)
	}
}
