package decode

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestABatchIsTakenApartWithoutReadingItsItems(t *testing.T) {
	items, err := ReadBatch([]byte(` {"timers" : [ {"id":"a]","executeIn":"1s"} ,7,"x,y",[1,[2]],{}, null ]} `), "timers")
	want := []string{`{"id":"a]","executeIn":"1s"}`, `7`, `"x,y"`, `[1,[2]]`, `{}`, `null`}
	if err != nil || len(items) != len(want) {
		t.Fatalf("%d items, %v", len(items), err)
	}
	for i := range want {
		if string(items[i]) != want[i] {
			t.Errorf("item %d is %s, want %s", i, items[i], want[i])
		}
	}
	if c, err := items[0].Create(); err != nil || c.ID != "a]" {
		t.Errorf("read as %+v, %v", c, err)
	}
	for _, item := range items[1:] {
		if _, err := item.Delete(); err == nil {
			t.Errorf("%s was read as a deletion", item)
		}
	}
}

func TestWhen(t *testing.T) {
	const old, now timer.Millis = 1000, 5000
	for body, want := range map[string]timer.Millis{
		`"executeIn":"2s"`:                   now + 2000,
		`"executeAt":"1970-01-01T00:00:07Z"`: 7000,
		`"shiftBy":"-500ms"`:                 old - 500,
		`"shiftBy":"-1d"`:                    old - timer.Millis(24*time.Hour/time.Millisecond),
		`"shiftBy":"1m"`:                     old + timer.Millis(time.Minute/time.Millisecond),
	} {
		m, err := ReadRescheduleMatching([]byte(`{"namespace":"n","correlationId":"c",` + body + `}`))
		if got := m.When.For(old, now); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", body, got, err, want)
		}
	}
	r, err := ReadRetry([]byte(`{"timerId":"a","executeIn":null}`))
	if got := r.When.For(old, now); err != nil || got != now {
		t.Errorf("without a time: %v, %v; want %v", got, err, now)
	}
}

func TestABatchHasSchedules(t *testing.T) {
	items, err := ReadBatch([]byte(`{"schedules":[{"id":"a","specs":[{"every":"1h"}]},{"id":"b","ifVersion":3,"pending":"delete"},{"specs":[]}]}`), "schedules")
	if err != nil || len(items) != 3 {
		t.Fatalf("%d items, %v", len(items), err)
	}
	if c, err := items[0].CreateSchedule(); err != nil || c.ID != "a" || c.Namespace != DefaultNamespace {
		t.Errorf("read as %+v, %v", c, err)
	}
	if d, err := items[1].DeleteSchedule(); err != nil || d.ID != "b" || d.IfVersion != 3 || !d.DeletePending {
		t.Errorf("read as %+v, %v", d, err)
	}
	if _, err := items[1].CreateSchedule(); err == nil {
		t.Errorf("%s was read as a create", items[1])
	}
	if _, err := items[2].DeleteSchedule(); err == nil {
		t.Errorf("%s was read as a deletion", items[2])
	}
}

// FuzzDecodeMany compares the decoders of batches and filters with encoding/json.
func FuzzDecodeMany(f *testing.F) {
	f.Add([]byte(`{"schedules":[{"id":"a","specs":[{"every":"1s"}],"timer":{"payload":"]"}},{"id":"b","ifVersion":1},7]}`))
	f.Add([]byte(`{"namespace":"n","nextFrom":"2030-01-31T09:00:00Z","nextBefore":"2030-02-01T00:00:00+01:00"}`))
	f.Add([]byte(`{"timers":[{"id":"a","executeIn":"1s"},7,[],"]"]}`))
	f.Add([]byte(`{"namespace":"n","status":"dead","executeIn":"1s","cursor":"AA"}`))
	f.Add([]byte(`{"namespace":"n","correlationId":"c","shiftBy":"-9223372036854775808ns"}`))
	f.Add([]byte(`{"timerId":"a","ifGeneration":"7","executeAt":"2030-01-31T09:00:00Z"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, field := range []string{"timers", "schedules"} {
			items, err := ReadBatch(body, field)
			explained(t, body, err)
			if err != nil {
				continue
			}
			var plain map[string][]json.RawMessage
			if err := json.Unmarshal(body, &plain); err != nil || len(plain[field]) != len(items) {
				t.Fatalf("%q: %d items, and %d by encoding/json (%v)", body, len(items), len(plain[field]), err)
			}
			for i, item := range items {
				if string(item) != string(plain[field][i]) {
					t.Fatalf("%q: item %d is %q, and %q by encoding/json", body, i, item, plain[field][i])
				}
				_, create := item.Create()
				_, createSchedule := item.CreateSchedule()
				_, deleteSchedule := item.DeleteSchedule()
				for _, err := range []error{create, createSchedule, deleteSchedule} {
					explained(t, item, err)
				}
			}
		}
		for _, read := range []func([]byte) (Matching, error){
			ReadDeleteMatching, ReadRescheduleMatching, ReadRetryMatching, ReadPurgeMatching, ReadResumeSchedules, ReadDeleteSchedules,
		} {
			m, err := read(body)
			explained(t, body, err)
			if err == nil && (m.Namespace == "" || m.Query.Limit < 1 || m.Query.Limit > MaxLimit) {
				t.Fatalf("%q was accepted as %+v", body, m)
			}
		}
		r, err := ReadRetry(body)
		explained(t, body, err)
		if err == nil && r.ID == "" {
			t.Fatalf("%q names no timer", body)
		}
	})
}
