package dynamostore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

// TestABatchIsNotUnavailableWhileAnItemIsUnknown: the service is unreachable, and a write to a shard that was hot
// before has an unknown outcome. ErrUnavailable for the whole batch would mean that none of it was applied.
func TestABatchIsNotUnavailableWhileAnItemIsUnknown(t *testing.T) {
	s := &Store{options: Options{MaxRequests: 1}}
	answers := []error{
		&localError{fmt.Errorf("%w: throttled after a lost answer", store.ErrOutcomeUnknown)},
		fmt.Errorf("%w: connection refused", store.ErrUnavailable),
	}
	err := s.singly(alone(len(answers)), func(i int) error { return answers[i] }, func(int, error) {})
	if !errors.Is(err, store.ErrOutcomeUnknown) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the batch answers %v, want ErrOutcomeUnknown and not ErrUnavailable", err)
	}
}
