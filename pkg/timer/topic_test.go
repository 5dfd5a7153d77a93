package timer_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestCheckTopic(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "Z": true, "0": true, "...": true, "_": true, "-": true, "orders.timeouts": true, "a.b_c-D9": true,
		strings.Repeat("t", timer.MaxTopic): true,
		"":                                  false, strings.Repeat("t", timer.MaxTopic+1): false, ".": false, "..": false,
		" ": false, "a b": false, "a/b": false, "a:b": false, "a*": false, ">": false, "$JS": false, "ä": false, "a\x00": false,
		"a\n": false, "@": false, "[": false, "`": false, "{": false,
	} {
		field := "topic"
		if ok {
			field = ""
		}
		wantField(t, name, timer.CheckTopic(name), field)
	}
}

func TestSpecCheckOfTopicAndKey(t *testing.T) {
	event := func(s *timer.Spec) { s.Deliver = timer.DeliverEvent }
	for what, c := range map[string]struct {
		change, more func(s *timer.Spec)
		field        string
	}{
		"event":                    {event, func(s *timer.Spec) { s.Topic = "orders" }, ""},
		"event by having no URL":   {func(s *timer.Spec) { s.CallbackURL = "" }, func(s *timer.Spec) { s.Topic = "orders" }, ""},
		"both":                     {func(s *timer.Spec) { s.Deliver = timer.DeliverBoth }, func(s *timer.Spec) { s.Topic = "orders" }, ""},
		"callback":                 {func(s *timer.Spec) { s.Deliver = timer.DeliverCallback }, func(s *timer.Spec) { s.Topic = "orders" }, "topic"},
		"callback by having a URL": {func(*timer.Spec) {}, func(s *timer.Spec) { s.Topic = "orders" }, "topic"},
		"bad name":                 {event, func(s *timer.Spec) { s.Topic = ".." }, "topic"},
		"key":                      {event, func(s *timer.Spec) { s.Topic, s.EventKey = "orders", "ä/1" }, ""},
		"key alone":                {event, func(s *timer.Spec) { s.EventKey = "k" }, "key"},
		"key of a callback":        {func(*timer.Spec) {}, func(s *timer.Spec) { s.EventKey = "k" }, "key"},
		"longest key":              {event, func(s *timer.Spec) { s.Topic, s.EventKey = "o", strings.Repeat("k", timer.MaxEventKey) }, ""},
		"longer key":               {event, func(s *timer.Spec) { s.Topic, s.EventKey = "o", strings.Repeat("k", timer.MaxEventKey+1) }, "key"},
		"key of controls":          {event, func(s *timer.Spec) { s.Topic, s.EventKey = "o", "a\nb" }, "key"},
		"key of no text":           {event, func(s *timer.Spec) { s.Topic, s.EventKey = "o", "\xff" }, "key"},
	} {
		s := spec()
		c.change(&s)
		c.more(&s)
		wantField(t, what, s.Check(), c.field)
	}
}

func TestTopicPatterns(t *testing.T) {
	p, err := timer.NewTopicPatterns([]string{"orders.*", "billing.timeouts", "*.eu.*-dlq", "orders.*"})
	if err != nil || p != "*.eu.*-dlq billing.timeouts orders.*" || p.Check() != nil {
		t.Fatalf("%q, %v, %v", p, err, p.Check())
	}
	if want := []string{"*.eu.*-dlq", "billing.timeouts", "orders.*"}; !slices.Equal(p.List(), want) {
		t.Errorf("they are %q, want %q", p.List(), want)
	}
	for topic, want := range map[string]bool{
		"orders.": true, "orders.timeouts": true, "orders.eu.timeouts": true, "orders": false, "xorders.a": false, "Orders.a": false,
		"billing.timeouts": true, "billing.timeouts.x": false, "billing": false,
		"a.eu.b-dlq": true, ".eu.-dlq": true, "a.eu.eu.b-dlq-dlq": true, ".eu-dlq": false, "a.eu.b": false, "": false,
	} {
		if got := p.Allow(topic); got != want {
			t.Errorf("%q is allowed: %t, want %t", topic, got, want)
		}
	}
	if none := timer.TopicPatterns(""); none.Allow("a") || none.Allow("") || none.List() != nil || none.Check() != nil {
		t.Error("no patterns allow something")
	}
	if !timer.TopicPatterns("*").Allow("anything.at_all") || timer.TopicPatterns("a*a").Allow("a") || !timer.TopicPatterns("a**a").Allow("aa") {
		t.Error("stars match any run, and for none")
	}
}

func TestTopicPatternsAtTheirLimits(t *testing.T) {
	many := make([]string, timer.MaxTopicPatterns+1)
	for i := range many {
		many[i] = "t" + strings.Repeat("x", i)
	}
	for what, c := range map[string]struct {
		patterns []string
		ok       bool
	}{
		"none": {nil, true}, "the most": {many[1:], true}, "one more": {many, false},
		"the longest": {[]string{strings.Repeat("*", timer.MaxTopic)}, true},
		"longer":      {[]string{strings.Repeat("a", timer.MaxTopic+1)}, false},
		"empty":       {[]string{""}, false}, "two in one": {[]string{"a b"}, false}, "one character": {[]string{"a?"}, false},
		"of NATS": {[]string{"orders.>"}, false}, "no text": {[]string{"\xff"}, false},
	} {
		field := "eventTopics"
		if c.ok {
			field = ""
		}
		_, err := timer.NewTopicPatterns(c.patterns)
		wantField(t, what, err, field)
	}
	for _, p := range []timer.TopicPatterns{"b a", "a a", " a", "a ", "a  b", "a?", "ä"} {
		wantField(t, string(p), p.Check(), "eventTopics")
	}
}

// FuzzTopicPatterns compares with regular expressions.
func FuzzTopicPatterns(f *testing.F) {
	f.Add("orders.*", "orders.timeouts")
	f.Add("*a*ab*", "aab")
	f.Add("a*b", "ab")
	f.Add("**.*", "..")
	f.Fuzz(func(t *testing.T, pattern, topic string) {
		p, err := timer.NewTopicPatterns([]string{pattern})
		if err != nil {
			return
		}
		if p.Check() != nil {
			t.Fatalf("%q is made and not accepted", p)
		}
		form := `\A(?s)` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + `\z`
		if want := regexp.MustCompile(form).MatchString(topic); p.Allow(topic) != want {
			t.Errorf("%q allows %q: %t, want %t", pattern, topic, !want, want)
		}
	})
}
