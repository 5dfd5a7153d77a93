package timer

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

const (
	// MaxFlowKey is the longest flow key, and the longest pattern of flow keys, in bytes of UTF-8.
	MaxFlowKey = 255
	// MaxFlowLimits is the maximum number of flow limits of a namespace.
	MaxFlowLimits = 64
	// MaxFlowCount is the largest number of deliveries in one period, and the largest burst.
	MaxFlowCount = 1_000_000
	// MinFlowPeriod and MaxFlowPeriod bound the period of a rate.
	MinFlowPeriod = time.Second
	MaxFlowPeriod = 24 * time.Hour
	// MaxFlowConcurrency is the largest number of concurrent deliveries of one flow key.
	MaxFlowConcurrency = 10_000
)

// CheckFlowKey accepts what CheckID accepts.
func CheckFlowKey(key string) error { return checkText("flowKey", key, 1) }

// FlowLimit limits the deliveries of each flow key that its pattern matches. It can be compared with ==.
type FlowLimit struct {
	// Pattern is a text in which each * matches any run of characters, including the empty run.
	Pattern string
	// Rate is not limited if it is zero.
	Rate FlowRate
	// Concurrency bounds the deliveries that run at the same time. 0: they are not limited.
	Concurrency int
}

// FlowRate allows Count deliveries to begin in each period Per, evenly spaced, except that Burst of them may begin at the
// same time. In any window of length Per, at most Count + Burst − 1 deliveries begin.
type FlowRate struct {
	Count int
	Per   time.Duration
	// Burst is 1 if deliveries may not begin at the same time.
	Burst int
}

// check checks a limit. field names it in errors.
func (l *FlowLimit) check(field string) error {
	if err := checkText(field+".pattern", l.Pattern, 1); err != nil {
		return err
	}
	r := &l.Rate
	switch {
	case *r == (FlowRate{}):
		if l.Concurrency == 0 {
			return Invalid(field, l.Pattern, "a rate, a concurrency, or both")
		}
	case r.Count < 1 || r.Count > MaxFlowCount:
		return Invalid(field+".rate.count", r.Count, "1 to 1000000")
	case r.Per < MinFlowPeriod || r.Per > MaxFlowPeriod || r.Per%time.Millisecond != 0:
		return Invalid(field+".rate.per", r.Per, `"1s" to "24h" in whole milliseconds`)
	case r.Burst < 1 || r.Burst > r.Count:
		return Invalid(field+".rate.burst", r.Burst, fmt.Sprintf("1 to the count, %d", r.Count))
	}
	if l.Concurrency < 0 || l.Concurrency > MaxFlowConcurrency {
		return Invalid(field+".concurrency", l.Concurrency, "1 to 10000")
	}
	return nil
}

// FlowLimits are the flow limits of a namespace, in their order, as text, so that they can be compared and engines store
// them unchanged. The empty text has none. NewFlowLimits returns one.
type FlowLimits string

// storedFlowLimit is the form of a limit in the text.
type storedFlowLimit struct {
	Pattern     string `json:"pattern"`
	Count       int    `json:"count,omitempty"`
	PerMS       int64  `json:"perMs,omitempty"`
	Burst       int    `json:"burst,omitempty"`
	Concurrency int    `json:"concurrency,omitempty"`
}

// NewFlowLimits checks limits.
func NewFlowLimits(limits []FlowLimit) (FlowLimits, error) {
	if len(limits) > MaxFlowLimits {
		return "", Invalid("flows", fmt.Sprintf("%d limits", len(limits)), fmt.Sprintf("at most %d", MaxFlowLimits))
	}
	if len(limits) == 0 {
		return "", nil
	}
	stored := make([]storedFlowLimit, len(limits))
	for i := range limits {
		l := &limits[i]
		if err := l.check(fmt.Sprintf("flows[%d]", i)); err != nil {
			return "", err
		}
		stored[i] = storedFlowLimit{l.Pattern, l.Rate.Count, l.Rate.Per.Milliseconds(), l.Rate.Burst, l.Concurrency}
	}
	text, err := json.Marshal(stored)
	return FlowLimits(text), err
}

// parsedLimits has the limits of the texts that were read last, because each create and each delivery with a flow key reads those
// of its namespace. It is emptied when it has maxParsedLimits texts.
var parsedLimits = struct {
	sync.RWMutex
	of map[FlowLimits][]FlowLimit
}{of: map[FlowLimits][]FlowLimit{}}

const maxParsedLimits = 256

// List returns the limits; nil if there are none or the text is not one of NewFlowLimits. The caller does not change them.
func (f FlowLimits) List() []FlowLimit {
	if f == "" {
		return nil
	}
	parsedLimits.RLock()
	limits, ok := parsedLimits.of[f]
	parsedLimits.RUnlock()
	if ok {
		return limits
	}
	limits, err := f.parse()
	if err != nil {
		return nil
	}
	parsedLimits.Lock()
	defer parsedLimits.Unlock()
	if len(parsedLimits.of) >= maxParsedLimits {
		clear(parsedLimits.of)
	}
	parsedLimits.of[f] = limits
	return limits
}

func (f FlowLimits) parse() ([]FlowLimit, error) {
	if f == "" {
		return nil, nil
	}
	var stored []storedFlowLimit
	if err := json.Unmarshal([]byte(f), &stored); err != nil {
		return nil, err
	}
	limits := make([]FlowLimit, len(stored))
	for i, s := range stored {
		rate := FlowRate{s.Count, time.Duration(s.PerMS) * time.Millisecond, s.Burst}
		limits[i] = FlowLimit{s.Pattern, rate, s.Concurrency}
	}
	return limits, nil
}

// Match returns the first limit whose pattern matches a flow key.
func (f FlowLimits) Match(key string) (FlowLimit, bool) {
	for _, l := range f.List() {
		if MatchPattern(l.Pattern, key) {
			return l, true
		}
	}
	return FlowLimit{}, false
}

// Check returns an error unless NewFlowLimits could have returned f.
func (f FlowLimits) Check() error {
	limits, err := f.parse()
	if err == nil {
		var made FlowLimits
		if made, err = NewFlowLimits(limits); err == nil && made != f {
			err = Invalid("flows", string(f), "the text of NewFlowLimits")
		}
	}
	return err
}
