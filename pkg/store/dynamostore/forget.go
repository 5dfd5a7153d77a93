package dynamostore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Forget implements store.Outcomes.
func (s *Store) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, "forget"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	out := make([]error, len(items))
	groups := turns(len(items), func(i int) store.Ref { return items[i].Ref })
	err := s.singly(groups, func(i int) (err error) {
		if out[i], err = s.forgetOne(ctx, now, &items[i]); err != nil {
			return fmt.Errorf("timer %s: %w", items[i].Ref.UUID, err)
		}
		return nil
	}, func(i int, err error) { out[i] = err })
	if err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	return out, nil
}

// forgetOne removes the final outcome last, so that a repetition after an error finds the timer again. An outbox entry is
// only written together with the final outcome, so none can appear between the query and the deletes. refused is the
// item's answer.
func (s *Store) forgetOne(ctx context.Context, now timer.Millis, f *store.Forget) (refused, err error) {
	var end *entry
	var earlier []timer.Attempt
	in := dynamodb.QueryInput{ProjectionExpression: aws.String(entryAttributes + ", #expires, #marked_at")}
	err = s.historyUnder(ctx, f.Ref, generationSort(f.Ref.UUID, f.Generation), in, item{}, func(e entry, _ item) error {
		if e.isEnd() {
			end = &e
		} else {
			earlier = append(earlier, e.of.Attempt)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case end == nil || end.expires <= now:
		return store.ErrNotFound, nil
	case end.marked:
		return store.ErrConflict, nil
	}
	for i, attempt := range earlier {
		if _, _, err := s.remove(ctx, s.options.History, historyKey(f.Ref, f.Generation, attempt), condition{}); err != nil {
			return nil, inPart(err, i)
		}
	}
	last := historyKey(f.Ref, f.Generation, end.of.Attempt)
	_, held, err := s.remove(ctx, s.options.History, last, condition{holds: "attribute_exists(#sk)"})
	switch {
	case err != nil:
		return nil, inPart(err, len(earlier))
	case !held:
		return store.ErrNotFound, nil // another call has removed it
	default:
		return nil, nil
	}
}

// inPart returns the error of a timer of which n attempts were removed.
func inPart(err error, n int) error {
	if n == 0 {
		return err
	}
	return fmt.Errorf("%w: %d attempts were removed: %w", store.ErrOutcomeUnknown, n, hideKind(err))
}
