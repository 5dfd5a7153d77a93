package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

const metrics = `# HELP timerbus_dynamodb_requests_total Requests.
timerbus_dynamodb_requests_total{operation="Query"} 10
timerbus_dynamodb_requests_total{operation="UpdateItem"} 3
timerbus_dynamodb_capacity_units_total{operation="Query",unit="read"} 4.5
timerbus_dynamodb_capacity_units_total{operation="UpdateItem",unit="write"} 6
timerbus_scheduler_shards_idle 16
timerbus_scheduler_publish_lateness_seconds_bucket{le="0.001"} 12
`

func TestMetricsAreReadAndBilled(t *testing.T) {
	r, err := parse(strings.NewReader(metrics))
	if err != nil {
		t.Fatal(err)
	}
	if r.atRest != 16 || len(r.requests) != 2 || r.units["UpdateItem"] != 6 {
		t.Errorf("read %+v", r)
	}
	// Ten queries used 4.5 units here: some found nothing, for which AWS bills one unit.
	if b := between(reading{}, r); b != (bill{requests: 13, reads: 10, writes: 6}) {
		t.Errorf("the bill is %+v", b)
	}
	if b := between(r, r); b != (bill{}) {
		t.Errorf("the bill of an idle hour is %+v", b)
	}
}

func TestIdleIsAddedUpForPresets(t *testing.T) {
	var out bytes.Buffer
	idle(&out, bill{requests: 240, reads: 240}, bill{requests: 4000, reads: 2000})
	notes(&out, time.Minute)
	// (4,096 · 240 + 2,000) units per hour, 730 hours, $0.125 per million.
	for _, want := range []string{"each shard", "xlarge, 4096 shards", "89.88", "AWS"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not contain %q:\n%s", want, out.String())
		}
	}
}

func TestArguments(t *testing.T) {
	t.Setenv(addressVariable, "")
	for _, args := range [][]string{{"x"}, {"-timers", "0"}, {"-window", "1s"}, {"-nonsense"}, {}} {
		var said bytes.Buffer
		if code := run(t.Context(), args, &bytes.Buffer{}, &said); code != 2 || said.Len() == 0 {
			t.Errorf("%v ends with %d and %q", args, code, said.String())
		}
	}
}
