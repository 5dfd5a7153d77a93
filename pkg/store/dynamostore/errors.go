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

// ErrCollectionFull is wrapped beside store.ErrUnavailable when a shard has reached DynamoDB's limit of
// 10 GB for an item collection. What is there still fires and can be deleted; nothing can grow.
var ErrCollectionFull = errors.New("the shard's item collection has reached DynamoDB's limit of 10 GB")

// The codes of DynamoDB that mean something here. Most come as errors of their own and again as reasons in
// a cancelled transaction, some under another name.
const (
	conditionFailed     = "ConditionalCheckFailed"
	transactionConflict = "TransactionConflict"
	collectionLimit     = "ItemCollectionSizeLimitExceeded"
	validation          = "ValidationError"
)

// sent follows one call of the SDK, all its attempts: whether one of them may have been done without saying so. The
// last one's answer does not tell: a transaction whose answer was lost is tried again, and may be refused then.
type sent struct {
	// written: bytes of the attempt under way may have reached the service.
	written atomic.Bool
	// unclear: an attempt ended so.
	unclear atomic.Bool
}

// follow makes net/http report to it.
func (s *sent) follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { s.written.Store(false) },
		WroteHeaders: func() { s.written.Store(true) },
	})
}

// judge makes the SDK report how each attempt ended.
func (s *sent) judge(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("JudgeAttempt",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
			middleware.FinalizeOutput, middleware.Metadata, error,
		) {
			s.written.Store(false) // an attempt that finds no connection, or no credentials, sends nothing
			out, meta, err := next.HandleFinalize(ctx, in)
			if err != nil && s.written.Load() && !refused(err) {
				s.unclear.Store(true)
			}
			return out, meta, err //nolint:wrapcheck // the SDK goes on with it
		}), "Retry", middleware.After)
}

// refused reports whether the service has said that it did not do it. Of an internal error it does not say.
func refused(err error) bool {
	if _, ok := errors.AsType[smithy.APIError](err); !ok {
		return false
	}
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return !ok || response.HTTPStatusCode() < http.StatusInternalServerError
}

// failed translates an error of the SDK. maybe says that the request was a write, and may have been done.
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

// localError is a refusal that is about one item or shard: requests for others may succeed.
type localError struct{ cause error }

func (e *localError) Error() string { return e.cause.Error() }
func (e *localError) Unwrap() error { return e.cause }

func isLocal(err error) bool {
	_, local := errors.AsType[*localError](err)
	return local
}

// plain is the service's own error where there is one: what the SDK puts around it is for its developers.
func plain(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return errors.New(api.ErrorCode() + ": " + api.ErrorMessage())
	}
	return err
}

// firstLine keeps a message for people on one line.
func firstLine(err error) error {
	first, rest, _ := strings.Cut(err.Error(), "\n")
	if rest == "" {
		return err
	}
	return errors.New(first)
}

// reason is one thing that the service had to say against a request, or against an item of a transaction.
type reason struct{ code, message string }

// reasons are the error's own, or those of a cancelled transaction. The codes are those of the latter, which
// go without the word Exception, and call an invalid item a ValidationError.
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

// isTooLarge tells by the message: the code is that of every invalid request.
func isTooLarge(err error) bool {
	return slices.ContainsFunc(reasons(err), func(r reason) bool {
		return r.code == validation && strings.Contains(r.message, "exceeded the maximum allowed size")
	})
}

// capacity are the codes of a lack of it.
var capacity = []string{"ProvisionedThroughputExceeded", "Throttling", "ThrottlingError", "RequestLimitExceeded", "LimitExceeded"}

// throttled reports whether capacity was all that was missing.
func throttled(err error) bool { return only(err, capacity) }

// passing reports whether all that was in the way were others: trying the same again can succeed, and
// nothing has been done.
func passing(err error) bool {
	return only(err, append([]string{transactionConflict, "TransactionInProgress"}, capacity...))
}

func only(err error, codes []string) bool {
	all := reasons(err)
	return len(all) > 0 && !slices.ContainsFunc(all, func(r reason) bool { return !slices.Contains(codes, r.code) })
}

func isFenced(err error) bool { return errors.Is(err, store.ErrFenced) }

func isInvalid(err error) bool { return errors.Is(err, store.ErrInvalid) }

// unsent reports whether there was no connection to send anything on.
func unsent(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return ok && dial.Op == "dial"
}

// readRetries, transactRetries and writeRetries are the SDK's own retryer with its backoff, its jitter and
// its budget of retries. Reads are tried again after everything that may pass, and so are transactions,
// which carry a token. Of single writes only what certainly was not done: a conditional write that was
// done, and whose answer was lost, would meet itself the second time and be told that its condition does
// not hold.
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
