package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/quota"
)

// refusal is an error as a client gets it, over HTTP or on the dead topic.
type refusal struct {
	status  int
	code    api.ErrorCode
	message string
	details map[string]any
	// retryAfter is when the client may try again, 0 for a second.
	retryAfter time.Duration
	// cause is logged for internal errors; clients do not get it.
	cause error
}

func (r *refusal) Error() string { return r.message }
func (r *refusal) Unwrap() error { return r.cause }

// withPath returns the refusal of a part of a body: path is prepended to its field.
func (r *refusal) withPath(path string) *refusal {
	field, ok := r.details["field"].(string)
	if !ok {
		return r
	}
	if field != "" {
		path += "."
	}
	out := *r
	out.details = maps.Clone(r.details)
	out.details["field"], out.message = path+field, path+r.message
	return &out
}

// details is always an object.
type details = map[string]any

// refuse converts any error to the client's error.
func refuse(err error) *refusal {
	var (
		ready   *refusal
		invalid *timer.InvalidError
		large   *timer.PayloadTooLargeError
		unknown *access.DeniedError
		quotas  *quota.ExceededError
		moving  *testclock.NotQuietError
	)
	switch {
	case errors.As(err, &ready):
		return ready
	case errors.As(err, &invalid):
		return &refusal{
			status: http.StatusBadRequest, code: api.ErrorCodeInvalidInput, message: invalid.Error(),
			details: details{"field": invalid.Field, "value": invalid.Value, "accepted": invalid.Want},
		}
	case errors.As(err, &large):
		return &refusal{
			status: http.StatusRequestEntityTooLarge, code: api.ErrorCodePayloadTooLarge, message: large.Error(),
			details: details{"field": "payload", "size": large.Size, "limit": large.Limit},
		}
	case errors.As(err, &quotas):
		return &refusal{
			status: http.StatusTooManyRequests, code: api.ErrorCodeRateLimited, message: quotas.Error(), retryAfter: quotas.RetryAfter,
			details: details{"namespace": quotas.Namespace, "quota": quotas.Quota, "limit": quotas.Limit},
		}
	case errors.As(err, &unknown):
		return &refusal{status: http.StatusUnauthorized, code: api.ErrorCodeUnauthorized, message: unknown.Reason, details: details{}}
	case errors.As(err, &moving):
		return clockNotQuiet(moving)
	case errors.Is(err, testclock.ErrBusy):
		return &refusal{
			status: http.StatusConflict, code: api.ErrorCodeClockBusy, details: details{},
			message: "another call is moving the test clock; nothing was done, call again when it has ended",
		}
	case errors.Is(err, commit.ErrFull):
		return &refusal{
			status: http.StatusTooManyRequests, code: api.ErrorCodeRateLimited, details: details{},
			message: "too many requests wait for the store; nothing was applied, try again later",
		}
	case errors.Is(err, store.ErrOutcomeUnknown):
		return &refusal{
			status: http.StatusGatewayTimeout, code: api.ErrorCodeOutcomeUnknown, details: details{}, cause: err,
			message: "the store's answer is missing: the request may have been applied, or may be applied later",
		}
	case errors.Is(err, errClock):
		return &refusal{
			status: http.StatusServiceUnavailable, code: api.ErrorCodeUnavailable, details: details{}, cause: err,
			message: "this process does not know the store's time well enough; nothing was applied, try again in a second",
		}
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrClosed),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		// Only reads get here with an ended context: writes return an unknown outcome instead.
		return &refusal{
			status: http.StatusServiceUnavailable, code: api.ErrorCodeUnavailable, details: details{}, cause: err,
			message: "the store is unavailable or full, or the service is stopping; nothing was applied, try again later",
		}
	default:
		return &refusal{
			status: http.StatusInternalServerError, code: api.ErrorCodeInternalError, details: details{}, cause: err,
			message: "internal error; the log of the service has details",
		}
	}
}

// isTemporary reports whether a repetition of the write that returned err may succeed, because the store or this process is unavailable.
func isTemporary(err error) bool {
	return refuse(err).status > http.StatusInternalServerError || errors.Is(err, commit.ErrFull)
}

func namespaceNotFound(name string) *refusal {
	return &refusal{
		status: http.StatusNotFound, code: api.ErrorCodeNamespaceNotFound, details: details{"namespace": name},
		message: fmt.Sprintf("there is no namespace %q", name),
	}
}

func namespaceDeleting(name string) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeNamespaceDeleting, details: details{"namespace": name},
		message: fmt.Sprintf("namespace %q is being deleted: its timers can be read and deleted only", name),
	}
}

func timerNotFound(namespace, id string) *refusal {
	return &refusal{
		status: http.StatusNotFound, code: api.ErrorCodeTimerNotFound, details: details{"namespace": namespace, "timerId": id},
		message: fmt.Sprintf("there is no timer %q in namespace %q", id, namespace),
	}
}

func timerExists(t *timer.Timer) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeTimerExists, details: presentState(t),
		message: fmt.Sprintf("timer %q exists in namespace %q (status %s), and onConflict is fail", t.ID, t.Namespace, t.Status),
	}
}

func generationConflict(t *timer.Timer, want timer.Generation) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeGenerationConflict, details: presentState(t),
		message: fmt.Sprintf("timer %q in namespace %q has generation %v, not ifGeneration %v", t.ID, t.Namespace, t.Generation, want),
	}
}

func presentState(t *timer.Timer) details {
	return details{
		"namespace": t.Namespace, "timerId": t.ID, "generation": t.Generation.String(), "status": t.Status,
	}
}

func shardsDiffer(ns *store.Namespace, want int) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeNamespaceExists,
		details: details{"namespace": ns.Name, "numShards": ns.Shards.Count, "version": ns.Version},
		message: fmt.Sprintf("namespace %q exists with %d shards, not %d, and the number of shards cannot be changed",
			ns.Name, ns.Shards.Count, want),
	}
}

func settingsDiffer(ns *store.Namespace, fields []string) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeNamespaceExists,
		details: details{"namespace": ns.Name, "numShards": ns.Shards.Count, "version": ns.Version, "differs": fields},
		message: fmt.Sprintf("namespace %q exists with other values of %s; namespaces/update changes them",
			ns.Name, strings.Join(fields, ", ")),
	}
}

func versionConflict(ns *store.Namespace, want int64) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeVersionConflict,
		details: details{"namespace": ns.Name, "version": ns.Version},
		message: fmt.Sprintf("namespace %q has version %d, not ifVersion %d", ns.Name, ns.Version, want),
	}
}

func bodyTooLarge(limit int) *refusal {
	return &refusal{
		status: http.StatusRequestEntityTooLarge, code: api.ErrorCodePayloadTooLarge,
		details: details{"field": "body", "limit": limit},
		message: fmt.Sprintf("body: more than %d bytes are not accepted", limit),
	}
}
