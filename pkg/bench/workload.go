package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sizes of the payload in bytes. Small is the workload; Large shows what bigger ones cost.
const (
	SmallPayload = 200
	LargePayload = 1500
)

// BatchSize is how many timers a batch holds.
const BatchSize = 100

// instantLayout is how the API writes instants: UTC with milliseconds.
const instantLayout = "2006-01-02T15:04:05.000Z"

// instantLength is the length of any instant written so.
const instantLength = len(instantLayout)

// idDigits is how many digits the number at an id's end has. All ids of a set have one length.
const idDigits = 8

// maxSet is the largest set that idDigits and a receiver's memory allow.
const maxSet = 10_000_000

// set is a number of timers that are alike: Prefix and a number make their ids.
type set struct {
	namespace, prefix string
	count             int
	// at tells when the timer of a number is due.
	at func(n int) time.Time

	// of returns the namespace of the timer with a number; nil if all are in one namespace.
	of func(n int) string

	// The parts of a create request around id and executeAt. Callbacks go to the tails' URLs in turn.
	head, middle []byte
	tails        [][]byte
}

// newSet prepares a set, so that a request costs no more than copying bytes.
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

// payloadOf is a JSON object of some bytes.
func payloadOf(size int) string {
	const order = `{"order":41700042,"customer":"c-20871","reason":"payment deadline","items":["a-1","b-7"],"note":"`
	const end = `"}`
	return order + strings.Repeat("x", max(0, size-len(order)-len(end))) + end
}

// appendID appends the id of a number.
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

// number reads the number back from an id; ok is false if the id is of another set.
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

// appendCreate appends the body of a request that creates the timer of a number.
func (s *set) appendCreate(to []byte, n int) []byte {
	to = append(append(to, `{"namespace":"`...), s.namespaceOf(n)...)
	to = appendNumber(append(to, s.head...), n)
	to = append(to, s.middle...)
	to = s.at(n).UTC().AppendFormat(to, instantLayout)
	return append(to, s.tails[n%len(s.tails)]...)
}

// appendBatch appends the body of a request that creates the timers from one number up to another.
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

// appendDeletes appends the body of a request that deletes timers.
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
