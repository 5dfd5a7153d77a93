package timer

import (
	"crypto/sha256"
	"encoding/binary"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Target identifies the destination of a timer: a hash of the scheme, host and port of its callback URL or, if it only
// publishes an event, of its user topic. Due events carry it, so that a dispatcher can apply its limits before it reads
// the row.
//
// 0 means that there is no target, because the event goes to the common topic, or that the target is not known. The
// lowest bit is 1 for topics and 0 for hosts. Two targets with the same hash share their limits, but nothing else.
type Target uint64

const topicTarget Target = 1

// topicPrefix precedes a topic in place of a callback URL. URLs contain no space.
const topicPrefix = "topic "

// IsTopic reports whether the target is a user topic.
func (t Target) IsTopic() bool { return t&topicTarget != 0 }

func (t Target) String() string { return strconv.FormatUint(uint64(t), 16) }

// Receiver returns the callback URL or, if the timer only publishes an event, "topic " and the user topic. It is empty
// for the common topic, and for a schedule, which calls no host itself.
func (s *Spec) Receiver() string {
	switch {
	case s.Schedule != "":
		return ""
	case s.Way() != DeliverEvent:
		return s.CallbackURL
	case s.Topic != "":
		return topicPrefix + s.Topic
	default:
		return ""
	}
}

// Target returns the target of the timer.
func (s *Spec) Target() Target { return TargetOf(s.Receiver()) }

// NamedTarget returns the target and its name, which is empty if the target is 0.
func (s *Spec) NamedTarget() (name string, t Target) {
	name = TargetName(s.Receiver())
	return name, targetOf(name)
}

// TargetOf returns the target of a Receiver. Processes of all releases must compute the same one, because it is part of
// due events.
func TargetOf(receiver string) Target { return targetOf(TargetName(receiver)) }

func targetOf(name string) Target {
	if name == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(name))
	t := Target(binary.BigEndian.Uint64(sum[:]))
	if strings.HasPrefix(name, topicPrefix) {
		return t | topicTarget
	}
	return max(t&^topicTarget, 2) // 0 means no target
}

// TargetName returns the text that TargetOf hashes: scheme, host and port of a callback URL, or the receiver itself if
// it is a topic. The scheme is included, so that timers that use plain HTTP on a TLS port cannot open the circuit for
// others. The name is empty if the URL has no host.
func TargetName(receiver string) string {
	if strings.HasPrefix(receiver, topicPrefix) {
		return receiver
	}
	u, err := url.Parse(receiver)
	if err != nil || u.Host == "" {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), port)
}
