package client

import (
	"time"

	"github.com/timerbus/timerbus/pkg/api"
)

// Timer and the others are the requests and answers of the HTTP API; schemas/openapi.yaml describes
// every field.
type ( //nolint:revive // one comment is about them all
	Timer              = api.Timer
	CreateTimerRequest = api.CreateTimerRequest
	UpdateTimerRequest = api.UpdateTimerRequest
	DeleteTimerRequest = api.DeleteTimerRequest
	TimerSelection     = api.TimerSelection
	ListTimersRequest  = api.ListTimersRequest
	TimerPage          = api.TimerPage
	HistoryRequest     = api.TimerHistoryRequest
	History            = api.TimerHistory
	HistoryEntry       = api.HistoryEntry

	RetryPolicy      = api.RetryPolicy
	RetryPolicyInput = api.RetryPolicyInput
	Deliver          = api.Deliver
	Status           = api.Status
	OnConflict       = api.CreateTimerRequestOnConflict

	Namespace              = api.Namespace
	CreateNamespaceRequest = api.CreateNamespaceRequest
	UpdateNamespaceRequest = api.UpdateNamespaceRequest
	NamespaceSettings      = api.NamespaceSettings
	NamespaceSettingsInput = api.NamespaceSettingsInput
	Preset                 = api.Preset

	// CallbackResponse is what a receiver may answer.
	CallbackResponse = api.CallbackResponse
	// Instant is a time as JSON has it; At makes one.
	Instant = api.Instant
	// Change is a field of an update: Set and Clear make one, and its zero value keeps what is there.
	Change[T any] = api.Change[T]
)

const (
	DeliverCallback = api.DeliverCallback
	DeliverEvent    = api.DeliverEvent
	DeliverBoth     = api.DeliverBoth

	Replace = api.CreateTimerRequestOnConflictReplace
	Keep    = api.CreateTimerRequestOnConflictKeep
	Fail    = api.CreateTimerRequestOnConflictFail
)

// At is t as requests have it.
func At(t time.Time) Instant { return api.At(t) }

// Set changes a field to v.
func Set[T any](v T) Change[T] { return api.Set(v) }

// Clear sets a field back to its default.
func Clear[T any]() Change[T] { return api.Clear[T]() }
