package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
)

// Code is an error code of the service.
type Code = api.ErrorCode

const (
	CodeInvalidInput       = api.ErrorCodeInvalidInput
	CodeUnauthorized       = api.ErrorCodeUnauthorized
	CodeForbidden          = api.ErrorCodeForbidden
	CodeNotFound           = api.ErrorCodeNotFound
	CodeTimerNotFound      = api.ErrorCodeTimerNotFound
	CodeNamespaceNotFound  = api.ErrorCodeNamespaceNotFound
	CodeMethodNotAllowed   = api.ErrorCodeMethodNotAllowed
	CodeTimerExists        = api.ErrorCodeTimerExists
	CodeNamespaceExists    = api.ErrorCodeNamespaceExists
	CodeNamespaceDeleting  = api.ErrorCodeNamespaceDeleting
	CodeScheduleNotFound   = api.ErrorCodeScheduleNotFound
	CodeScheduleExists     = api.ErrorCodeScheduleExists
	CodeKeyExists          = api.ErrorCodeKeyExists
	CodeKeyNotFound        = api.ErrorCodeKeyNotFound
	CodeGenerationConflict = api.ErrorCodeGenerationConflict
	CodeVersionConflict    = api.ErrorCodeVersionConflict
	CodePayloadTooLarge    = api.ErrorCodePayloadTooLarge
	CodeRateLimited        = api.ErrorCodeRateLimited
	CodeInternal           = api.ErrorCodeInternalError
	// CodeUnavailable means that nothing was applied.
	CodeUnavailable = api.ErrorCodeUnavailable
	// CodeOutcomeUnknown means that the call may be applied, now or later.
	CodeOutcomeUnknown = api.ErrorCodeOutcomeUnknown
	// CodeClockBusy means that another call is moving the test clock.
	CodeClockBusy = api.ErrorCodeClockBusy
	// CodeClockNotQuiet means that timers were still due at the end of the timeout of a move of the test clock.
	CodeClockNotQuiet = api.ErrorCodeClockNotQuiet
)

// Error is an error answer of the service.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is empty if the answer is not from the service but, for example, from a proxy.
	Code Code
	// Message names the problem, the value, and the accepted values.
	Message string
	// Details are for programs; their content depends on the code.
	Details map[string]any

	retryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%d %s: %s", e.Status, http.StatusText(e.Status), e.Message)
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// IsCode reports whether err is an answer of the service with this code.
func IsCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// MayBeApplied reports whether the failed call that returned err may have been applied, now or later: after a broken connection, a
// timeout, and an answer with a status of 500 or more, except 503.
func MayBeApplied(err error) bool {
	if answered, ok := errors.AsType[*Error](err); ok {
		return answered.Status >= http.StatusInternalServerError && answered.Status != http.StatusServiceUnavailable
	}
	return err != nil && !neverConnected(err)
}

// maxRetryAfter caps a Retry-After header, in seconds, so that it fits into a time.Duration.
const maxRetryAfter = 1 << 30

// maxErrorBody limits how much of an error answer is read, in bytes.
const maxErrorBody = 64 << 10

func errorOf(response *http.Response) *Error {
	e := &Error{Status: response.StatusCode}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.retryAfter = time.Duration(min(seconds, maxRetryAfter)) * time.Second
	}
	// If reading fails, use the part that was read.
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	var answer api.Error
	if json.Unmarshal(body, &answer) == nil && answer.Error != "" {
		e.Code, e.Message, e.Details = answer.Error, answer.Message, answer.Details
		return e
	}
	e.Message = strings.ToValidUTF8(strings.TrimSpace(string(body[:min(len(body), 200)])), "")
	if e.Message == "" {
		e.Message = "the answer has no message"
	}
	return e
}
