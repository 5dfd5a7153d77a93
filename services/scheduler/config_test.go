package scheduler

import (
	"reflect"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

func configured(t *testing.T, change func(*Config)) *Config {
	t.Helper()
	engine := memstore.NewDatabase().Open()
	c := Config{
		Store: engine, Directory: store.NewDirectory(engine), Clock: timer.SystemClock,
		Bus: membus.New(membus.Options{Partitions: 4}).Join("a"), Random: func() uint64 { return 1 },
	}
	change(&c)
	if err := c.withDefaults(); err != nil {
		t.Fatal(err)
	}
	return &c
}

// TestTheDefaultsAreThoseOfTheDesign: rules I6, I8 and I12 depend on these numbers (docs/design.md, section 2).
func TestTheDefaultsAreThoseOfTheDesign(t *testing.T) {
	c := configured(t, func(*Config) {})
	for name, d := range map[string][2]time.Duration{
		"look-ahead":   {c.LookAhead, 2 * time.Second},
		"hint window":  {c.HintWindow, time.Minute},
		"slack":        {c.Slack, 2 * time.Second},
		"grace":        {c.Grace, 2 * time.Second},
		"sweep":        {c.Sweep, 2 * time.Second},
		"sweep margin": {c.SweepMargin, time.Minute},
		"full sweep":   {c.FullSweep, 5 * time.Minute},
		"long bound":   {c.LongBound, timer.MaxCallbackTimeout + time.Minute},
		"clock bound":  {c.ClockBound, 250 * time.Millisecond},
	} {
		if d[0] != d[1] {
			t.Errorf("%s is %v by default, want %v", name, d[0], d[1])
		}
	}
}

// TestThePartitionGetsTheConfiguredLimits sets every limit to a value other than its default.
func TestThePartitionGetsTheConfiguredLimits(t *testing.T) {
	c := configured(t, func(c *Config) {
		c.LocalQueue = struct{ LocalQueue }{}
		v := reflect.ValueOf(c).Elem()
		for i := range v.NumField() {
			if field := v.Field(i); field.Kind() == reflect.Int || field.Kind() == reflect.Int64 {
				field.SetInt(int64(1000 + i))
			}
		}
	})
	got, want := reflect.ValueOf(c.limits()), reflect.ValueOf(*c)
	for i := range got.NumField() {
		name, value := got.Type().Field(i).Name, got.Field(i).Interface()
		expected := want.FieldByName(name).Interface()
		switch name {
		case "MaxArmed": // partitions have equal shares
			expected = c.MaxArmed / 4
		case "LocalQueue":
			expected = true
		}
		if value != expected {
			t.Errorf("%s is %v in the partition, want %v", name, value, expected)
		}
	}
}
