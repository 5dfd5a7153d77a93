package timer

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// MaxTopic is the longest name of a topic of a user's own, in bytes; Kafka's bound.
	MaxTopic = 249
	// MaxEventKey is the longest key of an event, in bytes of UTF-8.
	MaxEventKey = 255
	// MaxTopicPatterns is how many patterns of topics a namespace may have.
	MaxTopicPatterns = 32
)

// CheckTopic accepts [A-Za-z0-9._-]{1,249} except "." and "..", as Kafka does. A bus may accept less, and refuses the
// rest when the event is published.
func CheckTopic(name string) error {
	if name == "" || len(name) > MaxTopic || name == "." || name == ".." || strings.ContainsFunc(name, notTopicRune) {
		return Invalid("topic", name, `1 to 249 letters, digits, dots, underscores or hyphens, not "." or ".."`)
	}
	return nil
}

func notTopicRune(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
}

// CheckEventKey accepts what CheckID accepts.
func CheckEventKey(key string) error { return checkText("key", key, 1, MaxEventKey) }

// checkEvent judges where the fired event goes. Whoever is only called back has none, and the common topic is
// keyed by the service, so that each timer's events keep their order.
func (s *Spec) checkEvent() error {
	if s.Topic == "" {
		if s.EventKey != "" {
			return Invalid("key", s.EventKey, "none without a topic: events of the common topic have namespace and id as their key")
		}
		return nil
	}
	if s.Way() == DeliverCallback {
		return Invalid("topic", s.Topic, `none where deliver is "callback": only "event" and "both" publish an event`)
	}
	if err := CheckTopic(s.Topic); err != nil || s.EventKey == "" {
		return err
	}
	return CheckEventKey(s.EventKey)
}

// TopicPatterns say which topics a namespace's events may go to, as text: patterns in their order with a blank
// between them, so that they can be compared and engines store them as they are. None, the empty text, allows
// no topic. NewTopicPatterns makes one.
//
// A pattern is a name in which each * stands for any run of characters, dots included, or for none:
// "orders.*" allows "orders.timeouts" and "orders.eu.timeouts", but not "orders".
type TopicPatterns string

// NewTopicPatterns checks and orders patterns; repetitions count once.
func NewTopicPatterns(patterns []string) (TopicPatterns, error) {
	const field = "eventTopics"
	if len(patterns) > MaxTopicPatterns {
		return "", Invalid(field, fmt.Sprintf("%d patterns", len(patterns)), fmt.Sprintf("at most %d", MaxTopicPatterns))
	}
	for _, p := range patterns {
		// What a pattern holds beside stars must be of a name.
		if p == "" || len(p) > MaxTopic || strings.ContainsFunc(strings.ReplaceAll(p, "*", ""), notTopicRune) {
			return "", Invalid(field, p, "1 to 249 letters, digits, dots, underscores, hyphens, or * for any run of them")
		}
	}
	return TopicPatterns(strings.Join(slices.Compact(slices.Sorted(slices.Values(patterns))), " ")), nil
}

// All walks over the patterns in their order.
func (p TopicPatterns) All() iter.Seq[string] { return strings.FieldsSeq(string(p)) }

// List returns the patterns; nil if there are none.
func (p TopicPatterns) List() []string { return slices.Collect(p.All()) }

// Allow reports whether one of the patterns fits the topic.
func (p TopicPatterns) Allow(topic string) bool {
	for pattern := range p.All() {
		if fits(pattern, topic) {
			return true
		}
	}
	return false
}

// fits looks for the parts between the stars one after another, each as early as it can be: if that finds no
// way, there is none.
func fits(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(name, last)
}

// Check accepts what NewTopicPatterns makes.
func (p TopicPatterns) Check() error {
	made, err := NewTopicPatterns(p.List())
	if err == nil && made != p {
		err = Invalid("eventTopics", string(p), "patterns in order, with one blank between them")
	}
	return err
}
