package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/timerbus/timerbus/pkg/store"
)

// ErrCollectionFull is wrapped together with store.ErrUnavailable when a shard has reached DynamoDB's limit of 10 GB
// for an item collection. Existing timers still fire and can be deleted, but no item can grow.
var ErrCollectionFull = errors.New("the shard's item collection has reached DynamoDB's limit of 10 GB")

// The error codes of DynamoDB that this package uses. Most are error types and also reasons in a cancelled transaction,
// some with another name.
const (
	conditionFailed     = "ConditionalCheckFailed"
	transactionConflict = "TransactionConflict"
	collectionLimit     = "ItemCollectionSizeLimitExceeded"
	validation          = "ValidationError"
)

// sent follows all attempts of one call of the SDK, and records whether one of them may have been applied without a
// clear answer. The last attempt's answer is not sufficient: a transaction whose answer was lost is retried, and the
// retry may be refused.
type sent struct {
	// written is set if bytes of the present attempt may have reached the service.
	written atomic.Bool
	// unclear is set if such an attempt ended without a clear answer.
	unclear atomic.Bool
}

// follow makes net/http report to s.
func (s *sent) follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { s.written.Store(false) },
		WroteHeaders: func() { s.written.Store(true) },
	})
}

// judge makes the SDK report the end of each attempt.
func (s *sent) judge(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("JudgeAttempt",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
			middleware.FinalizeOutput, middleware.Metadata, error,
		) {
			s.written.Store(false) // an attempt without a connection or credentials sends nothing
			out, meta, err := next.HandleFinalize(ctx, in)
			if err != nil && s.written.Load() && !refused(err) {
				s.unclear.Store(true)
			}
			return out, meta, err //nolint:wrapcheck // the SDK handles it
		}), "Retry", middleware.After)
}

// refused reports whether the service has answered that it did not apply the request. An internal error (5xx) does not
// say this.
func refused(err error) bool {
	if _, ok := errors.AsType[smithy.APIError](err); !ok {
		return false
	}
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return !ok || response.HTTPStatusCode() < http.StatusInternalServerError
}

// failed translates an error of the SDK. maybe is set if the request was a write and may have been applied.
func failed(ctx context.Context, err error, maybe bool) error {
	sentinel, local := store.ErrUnavailable, passing(err) || isFull(err)
	switch {
	case maybe:
		sentinel = store.ErrOutcomeUnknown
	case isTooLarge(err):
		sentinel = store.ErrInvalid
		err = fmt.Errorf("DynamoDB stores no more than 400 KB for an item, names of attributes included: %w", plain(err))
	case has(err, validation):
		sentinel = store.ErrInvalid
		err = plain(err)
	case isFull(err):
		err = fmt.Errorf("%w: see docs/dynamodb.md: %w", ErrCollectionFull, plain(err))
	default:
		err = plain(err)
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w: %w", sentinel, ended, err)
	}
	err = fmt.Errorf("%w: %w", sentinel, err)
	if local {
		return &localError{err}
	}
	return err
}

// localError is a refusal that concerns one item or shard. Requests for others may succeed.
type localError struct{ cause error }

func (e *localError) Error() string { return e.cause.Error() }
func (e *localError) Unwrap() error { return e.cause }

func isLocal(err error) bool {
	_, local := errors.AsType[*localError](err)
	return local
}

// plain returns the service's error without the text that the SDK adds, if there is one.
func plain(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return errors.New(api.ErrorCode() + ": " + api.ErrorMessage())
	}
	return err
}

// firstLine returns the first line of an error's text.
func firstLine(err error) error {
	first, rest, _ := strings.Cut(err.Error(), "\n")
	if rest == "" {
		return err
	}
	return errors.New(first)
}

// reason is one reason of the service for refusing a request, or an item of a transaction.
type reason struct{ code, message string }

// reasons returns the reason of an error, or those of a cancelled transaction. The codes are those of transactions:
// without the suffix Exception, and ValidationError for an invalid item.
func reasons(err error) []reason {
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		var all []reason
		for _, r := range cancelled.CancellationReasons {
			if code := aws.ToString(r.Code); code != "" && code != "None" {
				all = append(all, reason{code, aws.ToString(r.Message)})
			}
		}
		return all
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return nil
	}
	code := strings.TrimSuffix(api.ErrorCode(), "Exception")
	if code == "Validation" {
		code = validation
	}
	return []reason{{code, api.ErrorMessage()}}
}

func has(err error, code string) bool {
	return slices.ContainsFunc(reasons(err), func(r reason) bool { return r.code == code })
}

func isFull(err error) bool { return has(err, collectionLimit) }

// isTooLarge compares the message, because the code is that of every invalid request.
func isTooLarge(err error) bool {
	return slices.ContainsFunc(reasons(err), func(r reason) bool {
		return r.code == validation && strings.Contains(r.message, "exceeded the maximum allowed size")
	})
}

// capacity are the codes for a lack of capacity.
var capacity = []string{"ProvisionedThroughputExceeded", "Throttling", "ThrottlingError", "RequestLimitExceeded", "LimitExceeded"}

// throttled reports whether a lack of capacity was the only reason.
func throttled(err error) bool { return only(err, capacity) }

// passing reports whether concurrent requests or a lack of capacity were the only reasons: nothing was applied, and a
// retry can succeed.
func passing(err error) bool {
	return only(err, append([]string{transactionConflict, "TransactionInProgress"}, capacity...))
}

func only(err error, codes []string) bool {
	all := reasons(err)
	return len(all) > 0 && !slices.ContainsFunc(all, func(r reason) bool { return !slices.Contains(codes, r.code) })
}

func isFenced(err error) bool { return errors.Is(err, store.ErrFenced) }

func isInvalid(err error) bool { return errors.Is(err, store.ErrInvalid) }

// unsent reports whether no connection could be made.
func unsent(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return ok && dial.Op == "dial"
}

// readRetries, transactRetries and writeRetries are the SDK's retryer with its backoff, jitter and retry budget. Reads
// are retried after every transient error, and so are transactions, which carry a token. A single write is retried only
// if it was certainly not applied: if a conditional write was applied and its answer was lost, its retry would fail on
// its own condition.
func readRetries(o *Options) aws.Retryer { return transactRetries(o) }

func transactRetries(o *Options) aws.Retryer {
	return retry.NewStandard(func(r *retry.StandardOptions) {
		bound(r, o)
		r.Retryables = append([]retry.IsErrorRetryable{
			retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
				tellThrottled(o, err)
				if passing(err) {
					return aws.TrueTernary
				}
				return aws.UnknownTernary
			}),
		}, r.Retryables...)
	})
}

func writeRetries(o *Options) aws.Retryer {
	return retry.NewStandard(func(r *retry.StandardOptions) {
		bound(r, o)
		r.Retryables = []retry.IsErrorRetryable{
			retry.NoRetryCanceledError{},
			retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
				tellThrottled(o, err)
				return aws.BoolTernary(passing(err) || unsent(err))
			}),
		}
	})
}

func bound(r *retry.StandardOptions, o *Options) {
	r.MaxAttempts = o.MaxAttempts
	r.MaxBackoff = maxBackoff
}

func tellThrottled(o *Options, err error) {
	if throttled(err) {
		o.Observer.Throttled()
	}
}
