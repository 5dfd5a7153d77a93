package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/timerbus/timerbus/pkg/api"
)

// MaxBatch is the maximum number of timers in a batch.
const MaxBatch = 1000

// BatchWritten describes a timer that a batch wrote. GetTimer returns the other fields.
type BatchWritten struct {
	Namespace, ID string
	// Generation of the timer that was created, replaced, kept or deleted.
	Generation string
	// DueAt is zero after a deletion.
	DueAt Instant
	// Kept is true if OnConflict was Keep and the id was taken, so that nothing was written.
	Kept bool
	// InTime is false if the timer's earlier delivery may have gone out before the write.
	InTime bool
}

// BatchResult is the result of one item of a batch.
type BatchResult struct {
	BatchWritten

	// Err is the reason why the item was refused; nil if it was applied. It is the error that a request with this item
	// alone would have returned, with fields named as in timers[7].callbackUrl.
	Err *Error
}

// BatchCreateTimers creates up to MaxBatch timers and returns one result per timer, in order. Each item is applied or
// refused independently; items about the same timer are applied in order. An error is about the whole batch; the
// results are nil then.
//
// A batch is retried like a creation, if that is safe for all of its items. It does not retry single items that were
// refused with CodeUnavailable or CodeRateLimited.
func (c *Client) BatchCreateTimers(ctx context.Context, timers []CreateTimerRequest) ([]BatchResult, error) {
	guarded := slices.ContainsFunc(timers, func(r CreateTimerRequest) bool { return r.OnConflict == Fail })
	return c.batch(ctx, "timers/batch-create", repeatable(!guarded), len(timers), api.BatchCreateRequest{Timers: timers})
}

// BatchDeleteTimers deletes up to MaxBatch timers and returns one result per timer, in order; see BatchCreateTimers.
// Like a deletion, it is never repeated after a broken connection.
func (c *Client) BatchDeleteTimers(ctx context.Context, timers []DeleteTimerRequest) ([]BatchResult, error) {
	return c.batch(ctx, "timers/batch-delete", false, len(timers), api.BatchDeleteRequest{Timers: timers})
}

// encodedBatch is a batch whose items are already encoded as JSON.
type encodedBatch struct {
	Timers []json.RawMessage `json:"timers"`
}

func (c *Client) batch(ctx context.Context, path string, repeat repeatable, items int, request any) ([]BatchResult, error) {
	var answer api.BatchResults
	if _, err := c.call(ctx, path, repeat, request, &answer); err != nil {
		return nil, err
	}
	if len(answer.Results) != items {
		return nil, fmt.Errorf("%s: %d results for %d items", path, len(answer.Results), items)
	}
	results := make([]BatchResult, items)
	for i := range answer.Results {
		results[i] = resultOf(&answer.Results[i])
	}
	return results, nil
}

func resultOf(r *api.BatchResult) BatchResult {
	if r.Status >= http.StatusMultipleChoices {
		refused := &Error{Status: r.Status}
		if r.Error != nil {
			refused.Code, refused.Message, refused.Details = r.Error.Error, r.Error.Message, r.Error.Details
		}
		return BatchResult{Err: refused}
	}
	return BatchResult{BatchWritten: BatchWritten{
		Namespace: r.Namespace, ID: r.ID, Generation: r.Generation, DueAt: r.DueAt, Kept: r.Kept,
		InTime: r.Status != http.StatusAccepted,
	}}
}
