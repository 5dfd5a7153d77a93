package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sizes of the payload in bytes. SmallPayload is the standard workload; LargePayload shows the cost of larger payloads.
const (
	SmallPayload = 200
	LargePayload = 1500
)

// BatchSize is the number of timers in a batch.
const BatchSize = 100

// instantLayout is how the API writes instants: UTC with milliseconds.
const instantLayout = "2006-01-02T15:04:05.000Z"

// instantLength is the length of every instant in instantLayout.
const instantLength = len(instantLayout)

// idDigits is the number of digits at the end of an id. All ids of a set have the same length.
const idDigits = 8

// maxSet is the largest set that idDigits and a receiver's memory allow.
const maxSet = 10_000_000

// set is a number of similar timers. The id of a timer is the prefix and the timer's number.
type set struct {
	namespace, prefix string
	count             int
	// at returns when the n-th timer is due.
	at func(n int) time.Time

	// of returns the namespace of the n-th timer; nil if all are in one namespace.
	of func(n int) string

	// The parts of a create request around id and executeAt. The callback URL of the n-th timer is in tails[n %
	// len(tails)].
	head, middle []byte
	tails        [][]byte
}

// newSet prepares a set, so that a request costs only the copying of bytes.
func newSet(namespace, prefix string, callbacks []string, payload, count int, at func(n int) time.Time) *set {
	s := &set{
		namespace: namespace, prefix: prefix, count: count, at: at,
		head:   fmt.Appendf(nil, `","id":"%s`, prefix),
		middle: []byte(`","executeAt":"`),
	}
	for _, callback := range callbacks {
		s.tails = append(s.tails, fmt.Appendf(nil, `","callbackUrl":%q,"payload":%s}`, callback, payloadOf(payload)))
	}
	return s
}

// payloadOf returns a JSON object of size bytes.
func payloadOf(size int) string {
	const order = `{"order":41700042,"customer":"c-20871","reason":"payment deadline","items":["a-1","b-7"],"note":"`
	const end = `"}`
	return order + strings.Repeat("x", max(0, size-len(order)-len(end))) + end
}

// appendID appends the id of the n-th timer.
func (s *set) appendID(to []byte, n int) []byte {
	return appendNumber(append(to, s.prefix...), n)
}

func appendNumber(to []byte, n int) []byte {
	at := len(to)
	to = append(to, "00000000"...)
	for i := at + idDigits - 1; i >= at && n > 0; i-- {
		to[i] = byte('0' + n%10)
		n /= 10
	}
	return to
}

// number returns the number in an id; ok is false if the id is of another set.
func number(id []byte, prefix string) (n int, ok bool) {
	if len(id) != len(prefix)+idDigits || string(id[:len(prefix)]) != prefix {
		return 0, false
	}
	n, err := strconv.Atoi(string(id[len(prefix):]))
	return n, err == nil && n >= 0
}

func (s *set) namespaceOf(n int) string {
	if s.of != nil {
		return s.of(n)
	}
	return s.namespace
}

// appendCreate appends the body of a request that creates the n-th timer.
func (s *set) appendCreate(to []byte, n int) []byte {
	to = append(append(to, `{"namespace":"`...), s.namespaceOf(n)...)
	to = appendNumber(append(to, s.head...), n)
	to = append(to, s.middle...)
	to = s.at(n).UTC().AppendFormat(to, instantLayout)
	return append(to, s.tails[n%len(s.tails)]...)
}

// appendBatch appends the body of a request that creates the timers from number from to number upto-1.
func (s *set) appendBatch(to []byte, from, upto int) []byte {
	to = append(to, `{"timers":[`...)
	for n := from; n < upto; n++ {
		if n > from {
			to = append(to, ',')
		}
		to = s.appendCreate(to, n)
	}
	return append(to, "]}"...)
}

// appendDeletes appends the body of a request that deletes the timers from number from to number upto-1.
func (s *set) appendDeletes(to []byte, from, upto int) []byte {
	to = append(to, `{"timers":[`...)
	for n := from; n < upto; n++ {
		if n > from {
			to = append(to, ',')
		}
		to = append(to, `{"namespace":"`...)
		to = append(to, s.namespaceOf(n)...)
		to = append(to, `","timerId":"`...)
		to = s.appendID(to, n)
		to = append(to, `"}`...)
	}
	return append(to, "]}"...)
}
