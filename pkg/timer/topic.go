package timer

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// MaxTopic is the longest name of a user topic, in bytes; it is Kafka's limit.
	MaxTopic = 249
	// MaxEventKey is the longest key of an event, in bytes of UTF-8.
	MaxEventKey = 255
	// MaxTopicPatterns is the maximum number of topic patterns of a namespace.
	MaxTopicPatterns = 32
)

// CheckTopic accepts [A-Za-z0-9._-]{1,249} except "." and "..", as Kafka does. A bus may accept fewer names; it refuses
// the others when the event is published.
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
func CheckEventKey(key string) error { return checkText("key", key, 1) }

// checkEvent checks the destination of the fired event. A timer that is only delivered by callback has no event. On the
// common topic the service sets the key, so that each timer's events keep their order.
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

// TopicPatterns are the topics to which a namespace's events may be published, as text: sorted patterns, separated by
// spaces, so that they can be compared and engines store them unchanged. The empty text allows no topic.
// NewTopicPatterns returns one.
//
// In a pattern, each * matches any run of characters, including dots and the empty run: "orders.*" allows
// "orders.timeouts" and "orders.eu.timeouts", but not "orders".
type TopicPatterns string

// NewTopicPatterns checks and sorts patterns, and removes duplicates.
func NewTopicPatterns(patterns []string) (TopicPatterns, error) {
	const field = "eventTopics"
	if len(patterns) > MaxTopicPatterns {
		return "", Invalid(field, fmt.Sprintf("%d patterns", len(patterns)), fmt.Sprintf("at most %d", MaxTopicPatterns))
	}
	for _, p := range patterns {
		// Apart from stars, a pattern may contain only the characters of a name.
		if p == "" || len(p) > MaxTopic || strings.ContainsFunc(strings.ReplaceAll(p, "*", ""), notTopicRune) {
			return "", Invalid(field, p, "1 to 249 letters, digits, dots, underscores, hyphens, or * for any run of them")
		}
	}
	return TopicPatterns(strings.Join(slices.Compact(slices.Sorted(slices.Values(patterns))), " ")), nil
}

// All iterates over the patterns in order.
func (p TopicPatterns) All() iter.Seq[string] { return strings.FieldsSeq(string(p)) }

// List returns the patterns; nil if there are none.
func (p TopicPatterns) List() []string { return slices.Collect(p.All()) }

// Allow reports whether one of the patterns matches the topic.
func (p TopicPatterns) Allow(topic string) bool {
	for pattern := range p.All() {
		if MatchPattern(pattern, topic) {
			return true
		}
	}
	return false
}

// MatchPattern reports whether a name matches a pattern in which each * matches any run of characters, including the
// empty run.
//
// It searches for the parts between the stars one after another, each at its earliest position. If that fails, no
// other positions match either.
func MatchPattern(pattern, name string) bool {
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

// Check returns an error unless NewTopicPatterns could have returned p.
func (p TopicPatterns) Check() error {
	made, err := NewTopicPatterns(p.List())
	if err == nil && made != p {
		err = Invalid("eventTopics", string(p), "sorted patterns, separated by single spaces")
	}
	return err
}
