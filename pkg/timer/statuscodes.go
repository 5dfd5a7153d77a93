package timer

import (
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// StatusCodes is a set of HTTP statuses of class 4xx, one bit per status. The zero value is empty, and sets can be
// compared with ==.
type StatusCodes [2]uint64

const firstClientError, lastClientError = 400, 499

// With returns the set with one more status.
func (s StatusCodes) With(code int) (StatusCodes, error) {
	if code < firstClientError || code > lastClientError {
		return s, Invalid("finalStatuses", code, fmt.Sprintf("%d to %d", firstClientError, lastClientError))
	}
	at := code - firstClientError
	s[at/64] |= 1 << (at % 64)
	return s, nil
}

// Has reports whether a status is in the set.
func (s StatusCodes) Has(code int) bool {
	at := code - firstClientError
	return at >= 0 && code <= lastClientError && s[at/64]&(1<<(at%64)) != 0
}

// All iterates over the set in ascending order.
func (s StatusCodes) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for word, set := range s {
			for ; set != 0; set &= set - 1 {
				if !yield(firstClientError + 64*word + bits.TrailingZeros64(set)) {
					return
				}
			}
		}
	}
}

// String returns the set as engines store it: "404 409".
func (s StatusCodes) String() string {
	var codes []string
	for code := range s.All() {
		codes = append(codes, strconv.Itoa(code))
	}
	return strings.Join(codes, " ")
}

// ParseStatusCodes parses the result of String.
func ParseStatusCodes(text string) (StatusCodes, error) {
	var s StatusCodes
	for field := range strings.FieldsSeq(text) {
		code, err := strconv.Atoi(field)
		if err != nil {
			return StatusCodes{}, Invalid("finalStatuses", field, "a status such as 404")
		}
		if s, err = s.With(code); err != nil {
			return StatusCodes{}, err
		}
	}
	return s, nil
}
