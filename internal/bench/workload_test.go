package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// created is a create request as the service decodes it.
type created struct {
	Namespace   string          `json:"namespace"`
	ID          string          `json:"id"`
	ExecuteAt   time.Time       `json:"executeAt"`
	CallbackURL string          `json:"callbackUrl"`
	Payload     json.RawMessage `json:"payload"`
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func testSet(payload, count int) *set {
	return newSet("ns", "run-set-", []string{"http://127.0.0.1:9/fire"}, payload, count, func(n int) time.Time {
		return noon.Add(time.Duration(n) * time.Millisecond)
	})
}

func decodeStrictly[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestCreateIsWhatTheAPITakes(t *testing.T) {
	for _, size := range []int{SmallPayload, LargePayload} {
		got := decodeStrictly[created](t, testSet(size, 10).appendCreate([]byte(" "), 7))
		if got.Namespace != "ns" || got.ID != "run-set-00000007" || got.CallbackURL != "http://127.0.0.1:9/fire" {
			t.Errorf("created %+v", got)
		}
		if want := noon.Add(7 * time.Millisecond); !got.ExecuteAt.Equal(want) {
			t.Errorf("executeAt %v, want %v", got.ExecuteAt, want)
		}
		if len(got.Payload) != size {
			t.Errorf("the payload has %d bytes, want %d", len(got.Payload), size)
		}
	}
}

func TestBatchesHoldEveryTimerOnce(t *testing.T) {
	s := testSet(SmallPayload, 5)
	batch := decodeStrictly[struct{ Timers []created }](t, s.appendBatch(nil, 2, 5))
	deletes := decodeStrictly[struct {
		Timers []struct{ Namespace, TimerID string }
	}](t, s.appendDeletes(nil, 2, 5))
	if len(batch.Timers) != 3 || len(deletes.Timers) != 3 {
		t.Fatalf("%d creates and %d deletes, want 3", len(batch.Timers), len(deletes.Timers))
	}
	for i := range 3 {
		want := string(s.appendID(nil, 2+i))
		if batch.Timers[i].ID != want || deletes.Timers[i].TimerID != want {
			t.Errorf("item %d creates %s and deletes %s, want %s", i, batch.Timers[i].ID, deletes.Timers[i].TimerID, want)
		}
	}
}

func TestCommandIsAnEvent(t *testing.T) {
	command, err := event.ParseCommand(nil, testSet(SmallPayload, 10).command(3))
	if err != nil {
		t.Fatal(err)
	}
	if command.Verb != event.VerbCreate || command.ID != "run-set-00000003" {
		t.Errorf("command %+v", command)
	}
	if got := decodeStrictly[created](t, command.Data); got.ID != "run-set-00000003" {
		t.Errorf("it creates %s", got.ID)
	}
}

func TestNumberOfAnID(t *testing.T) {
	s := testSet(SmallPayload, maxSet)
	for _, n := range []int{0, 1, 42, 99_999_999} {
		if got, ok := number(s.appendID(nil, n), s.prefix); !ok || got != n {
			t.Errorf("number of %s = %d, %t", s.appendID(nil, n), got, ok)
		}
	}
	for _, foreign := range []string{"", "run-set-", "run-set-0000000", "run-set-000000001", "run-other-00000001", "run-set-0000000x", "run-set--0000001"} {
		if n, ok := number([]byte(foreign), s.prefix); ok {
			t.Errorf("%q passes as number %d", foreign, n)
		}
	}
}

// delivery returns a callback's body as the dispatcher writes it.
func delivery(tb testing.TB, id string, executeAt time.Time) []byte {
	tb.Helper()
	d := event.DeliveryOf(&timer.Timer{
		Namespace: "ns", ID: id,
		Spec: timer.Spec{ExecuteAt: timer.FromTime(executeAt), Payload: []byte(`{"timerId":"no","executeAt":"no"}`)},
	})
	body, err := d.Body()
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func FuzzParseDelivery(f *testing.F) {
	f.Add(delivery(f, "run-set-00000001", noon))
	f.Add([]byte(`{"timerId":"a","executeAt":"2030-01-02T12:00:00.000Z"}`))
	f.Add([]byte(`{"timerId":"a","executeAt":"2030-01-02T12:00:00.00`))
	f.Add([]byte(`{"timerId":"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		id, at, ok := parseDelivery(body)
		if ok && (len(id) > len(body) || at.IsZero() && at.Year() != 1) {
			t.Errorf("%q gives %q, %v", body, id, at)
		}
	})
}

func TestParseDelivery(t *testing.T) {
	id, at, ok := parseDelivery(delivery(t, "run-set-00000001", noon))
	if !ok || string(id) != "run-set-00000001" || !at.Equal(noon) {
		t.Errorf("%q, %v, %t", id, at, ok)
	}
	for _, foreign := range []string{"", "{}", `{"timerId":"a"}`, `{"timerId":"a","executeAt":"noon"}`, `{"timerId":"a","executeAt":"2030-13-02T12:00:00.000Z"}`} {
		if id, at, ok := parseDelivery([]byte(foreign)); ok {
			t.Errorf("%s passes as %s at %v", foreign, id, at)
		}
	}
}
