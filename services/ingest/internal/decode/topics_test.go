package decode

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestTopicsAndKeysThatAreNotAccepted(t *testing.T) {
	for fields, want := range map[string]string{
		`"topic":7`:                            "topic: 7 is not accepted: want a name of 1 to 249",
		`"topic":""`:                           `topic: "" is not accepted: want a name of 1 to 249`,
		`"topic":".."`:                         `topic: ".." is not accepted: want 1 to 249 letters`,
		`"topic":"orders/a"`:                   `topic: "orders/a" is not accepted`,
		`"topic":"\ud800"`:                     "topic: ",
		`"topic":"o","key":""`:                 `key: "" is not accepted: want 1 to 255 bytes`,
		`"topic":"o","key":"\n"`:               `key: "\n" is not accepted: want 1 to 255 bytes`,
		`"topic":"o","key":["k"]`:              `key: ["k"] is not accepted`,
		`"key":"k"`:                            `key: "k" is not accepted: want none without a topic`,
		`"topic":"o","callbackUrl":"http://h"`: `topic: "o" is not accepted: want none where deliver is "callback"`,
	} {
		_, err := readSpec(`{"id":"a","executeIn":"1s",` + fields + `}`)
		var invalid *timer.InvalidError
		if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", fields, err, want)
		}
	}
}

func TestEventTopics(t *testing.T) {
	n := newNamespaceSettings(t)
	n.must(`{"eventTopics":["orders.*","billing.timeouts","orders.*"]}`)
	if got := n.settings.EventTopics; got != "billing.timeouts orders.*" {
		t.Errorf("patterns %q", got)
	}
	n.must(`{"headers":{"x-a":"1"}}`)
	if n.settings.EventTopics == "" {
		t.Error("another update removed them")
	}
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"t%d"`, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for _, topics := range []string{
		`"orders.*"`, `{}`, `7`, `[7]`, `[null]`, `[""]`, `["a b"]`, `["orders.>"]`, `["ä"]`, many(33), many(3000),
		`["` + strings.Repeat("a", timer.MaxTopic+1) + `"]`,
	} {
		n.wantRefused(`{"eventTopics":`+topics+`}`, "eventTopics", "")
	}
	n.must(`{"eventTopics":` + many(32) + `}`)
	n.must(`{"eventTopics":[]}`)
	n.must(`{"headers":null}`)
	if n.settings != store.DefaultSettings() {
		t.Errorf("cleared: %+v", n.settings)
	}
}
