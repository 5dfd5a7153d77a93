package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/timerbus/timerbus/pkg/api"
)

// MaxBatch is the maximum number of items in a batch.
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

// ScheduleBatchWritten describes a schedule that a batch wrote. GetSchedule returns the other fields.
type ScheduleBatchWritten struct {
	Namespace, ID string
	// Version of the schedule that was created, kept or deleted.
	Version int
	// NextAt is the instant of the next occurrence. It is zero after a deletion.
	NextAt Instant
	// Kept is true if OnConflict was ScheduleKeep and the id existed, so that nothing was written.
	Kept bool
	// InTime is false if an occurrence by the earlier state may have been created at the moment of the write.
	InTime bool
}

// ScheduleBatchResult is the result of one item of a batch of schedules.
type ScheduleBatchResult struct {
	ScheduleBatchWritten

	// Err is as in BatchResult, with fields named as in schedules[7].timeZone.
	Err *Error
}

// BatchCreateSchedules creates up to MaxBatch schedules and returns one result per schedule, in order; see BatchCreateTimers.
func (c *Client) BatchCreateSchedules(ctx context.Context, schedules []CreateScheduleRequest) ([]ScheduleBatchResult, error) {
	guarded := slices.ContainsFunc(schedules, func(r CreateScheduleRequest) bool { return r.OnConflict == ScheduleFail })
	return c.batchSchedules(ctx, "schedules/batch-create", repeatable(!guarded), len(schedules),
		api.BatchCreateSchedulesRequest{Schedules: schedules})
}

// BatchDeleteSchedules deletes up to MaxBatch schedules and returns one result per schedule, in order; see BatchDeleteTimers.
func (c *Client) BatchDeleteSchedules(ctx context.Context, schedules []DeleteScheduleRequest) ([]ScheduleBatchResult, error) {
	return c.batchSchedules(ctx, "schedules/batch-delete", false, len(schedules),
		api.BatchDeleteSchedulesRequest{Schedules: schedules})
}

// encodedBatch is a batch whose items are already encoded as JSON.
type encodedBatch struct {
	Timers []json.RawMessage `json:"timers"`
}

func (c *Client) batch(ctx context.Context, path string, repeat repeatable, items int, request any) ([]BatchResult, error) {
	var answer api.BatchResults
	_, err := c.call(ctx, path, repeat, request, &answer)
	return resultsOf(path, items, answer.Results, err, func(r *api.BatchResult) BatchResult {
		if refused := refusalOf(r.Status, r.Error); refused != nil {
			return BatchResult{Err: refused}
		}
		return BatchResult{BatchWritten: BatchWritten{
			Namespace: r.Namespace, ID: r.ID, Generation: r.Generation, DueAt: r.DueAt, Kept: r.Kept,
			InTime: r.Status != http.StatusAccepted,
		}}
	})
}

func (c *Client) batchSchedules(
	ctx context.Context, path string, repeat repeatable, items int, request any,
) ([]ScheduleBatchResult, error) {
	var answer api.ScheduleBatchResults
	_, err := c.call(ctx, path, repeat, request, &answer)
	return resultsOf(path, items, answer.Results, err, func(r *api.ScheduleBatchResult) ScheduleBatchResult {
		if refused := refusalOf(r.Status, r.Error); refused != nil {
			return ScheduleBatchResult{Err: refused}
		}
		return ScheduleBatchResult{ScheduleBatchWritten: ScheduleBatchWritten{
			Namespace: r.Namespace, ID: r.ID, Version: r.Version, NextAt: r.NextAt, Kept: r.Kept,
			InTime: r.Status != http.StatusAccepted,
		}}
	})
}

// resultsOf converts the results of a batch, or returns err if the call failed.
func resultsOf[A, R any](path string, items int, answers []A, err error, result func(*A) R) ([]R, error) {
	if err != nil {
		return nil, err
	}
	if len(answers) != items {
		return nil, fmt.Errorf("%s: %d results for %d items", path, len(answers), items)
	}
	results := make([]R, items)
	for i := range answers {
		results[i] = result(&answers[i])
	}
	return results, nil
}

// refusalOf returns the error of an item, or nil if the item was applied.
func refusalOf(status int, e *api.Error) *Error {
	if status < http.StatusMultipleChoices {
		return nil
	}
	refused := &Error{Status: status}
	if e != nil {
		refused.Code, refused.Message, refused.Details = e.Error, e.Message, e.Details
	}
	return refused
}
