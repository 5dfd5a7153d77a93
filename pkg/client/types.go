package client

import (
	"time"

	"github.com/timerbus/timerbus/pkg/api"
)

// The requests and answers of the HTTP API under this package's name. schemas/openapi.yaml describes
// every field.

type (
	// Timer is a timer as it stands, or how it ended.
	Timer = api.Timer
	// CreateTimerRequest asks for a timer.
	CreateTimerRequest = api.CreateTimerRequest
	// UpdateTimerRequest changes the fields it gives.
	UpdateTimerRequest = api.UpdateTimerRequest
	// DeleteTimerRequest removes a timer.
	DeleteTimerRequest = api.DeleteTimerRequest
	// TimerSelection names a timer.
	TimerSelection = api.TimerSelection
	// ListTimersRequest selects timers of a namespace.
	ListTimersRequest = api.ListTimersRequest
	// TimerPage is one page of a list.
	TimerPage = api.TimerPage
	// HistoryRequest asks for a timer's attempts.
	HistoryRequest = api.TimerHistoryRequest
	// History is a timer's attempts, newest first.
	History = api.TimerHistory
	// HistoryEntry is one attempt.
	HistoryEntry = api.HistoryEntry
	// DeleteMatchingRequest selects timers to delete.
	DeleteMatchingRequest = api.DeleteMatchingRequest
	// RescheduleMatchingRequest selects timers to give another time.
	RescheduleMatchingRequest = api.RescheduleMatchingRequest
	// RetryMatchingRequest selects dead or parked timers to arm again.
	RetryMatchingRequest = api.RetryMatchingRequest
	// MatchingPage is what became of one page of such a selection.
	MatchingPage = api.MatchingPage
	// RetryTimerRequest arms a dead or parked timer again.
	RetryTimerRequest = api.RetryTimerRequest
	// Shard is one unit of ownership, with who holds it and how far it is.
	Shard = api.Shard
	// RetryPolicy says how failed deliveries are tried again.
	RetryPolicy = api.RetryPolicy
	// RetryPolicyInput is a retry policy of which some fields are given.
	RetryPolicyInput = api.RetryPolicyInput
	// Deliver is the way a timer goes out.
	Deliver = api.Deliver
	// Status is where a timer stands in its life.
	Status = api.Status
	// OnConflict says what a creation does if the id is taken.
	OnConflict = api.CreateTimerRequestOnConflict
	// Namespace is a scope of timer ids, with defaults for its timers.
	Namespace = api.Namespace
	// CreateNamespaceRequest asks for a namespace.
	CreateNamespaceRequest = api.CreateNamespaceRequest
	// UpdateNamespaceRequest changes the settings it gives.
	UpdateNamespaceRequest = api.UpdateNamespaceRequest
	// NamespaceSettings are a namespace's defaults for its timers.
	NamespaceSettings = api.NamespaceSettings
	// NamespaceSettingsInput are settings of which some are given.
	NamespaceSettingsInput = api.NamespaceSettingsInput
	// SecretsInput is one command about signing secrets.
	SecretsInput = api.SecretsInput
	// SigningSecret tells which secret signs, and since when.
	SigningSecret = api.SigningSecret
	// NamespaceTLSInput are the certificates of callbacks, of which some are given.
	NamespaceTLSInput = api.NamespaceTLSInput
	// Headers are extra headers of callbacks.
	Headers = api.Headers
	// Preset is a number of shards by name.
	Preset = api.Preset
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
