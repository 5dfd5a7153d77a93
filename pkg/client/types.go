package client

import (
	"time"

	"github.com/timerbus/timerbus/pkg/api"
)

// The requests and answers of the HTTP API under this package's name. schemas/openapi.yaml describes every field.

type (
	// Timer is the present state of a timer, or its outcome.
	Timer = api.Timer
	// CreateTimerRequest creates a timer.
	CreateTimerRequest = api.CreateTimerRequest
	// UpdateTimerRequest changes the given fields of a timer.
	UpdateTimerRequest = api.UpdateTimerRequest
	// TimerRequest is the HTTP request of a timer's callback.
	TimerRequest = api.TimerRequest
	// RequestMethod is the method of a TimerRequest: GET, POST, PUT, PATCH or DELETE.
	RequestMethod = api.RequestMethod
	// DeleteTimerRequest removes a timer.
	DeleteTimerRequest = api.DeleteTimerRequest
	// TimerSelection identifies a timer.
	TimerSelection = api.TimerSelection
	// ListTimersRequest selects timers of a namespace.
	ListTimersRequest = api.ListTimersRequest
	// ListOrder is the order of a list.
	ListOrder = api.ListOrder
	// CountTimersRequest selects timers of a namespace.
	CountTimersRequest = api.CountTimersRequest
	// TimerCount is the number of timers.
	TimerCount = api.TimerCount
	// ForecastTimersRequest selects a time range and divides it into buckets.
	ForecastTimersRequest = api.ForecastTimersRequest
	// TimerForecast is the number of timers for each bucket.
	TimerForecast = api.TimerForecast
	// TimerPage is one page of a list.
	TimerPage = api.TimerPage
	// HistoryRequest selects a timer's attempts.
	HistoryRequest = api.TimerHistoryRequest
	// History is a timer's attempts, newest first.
	History = api.TimerHistory
	// HistoryEntry is one attempt.
	HistoryEntry = api.HistoryEntry
	// DeleteMatchingRequest selects timers to delete.
	DeleteMatchingRequest = api.DeleteMatchingRequest
	// RescheduleMatchingRequest selects timers to reschedule.
	RescheduleMatchingRequest = api.RescheduleMatchingRequest
	// RetryMatchingRequest selects dead or parked timers to arm again.
	RetryMatchingRequest = api.RetryMatchingRequest
	// PauseTimerRequest pauses a timer.
	PauseTimerRequest = api.PauseTimerRequest
	// ResumeTimerRequest resumes a timer.
	ResumeTimerRequest = api.ResumeTimerRequest
	// PauseMatchingRequest selects timers to pause.
	PauseMatchingRequest = api.PauseMatchingRequest
	// ResumeMatchingRequest selects paused timers to resume.
	ResumeMatchingRequest = api.ResumeMatchingRequest
	// ResumePage is the result for one page of a ResumeMatchingRequest.
	ResumePage = api.ResumePage
	// TimerPause says who paused a timer, when and why.
	TimerPause = api.TimerPause
	// Overdue selects what a resume does with timers whose time has passed: OverdueDeliver or OverdueSkip.
	Overdue = api.Overdue
	// PurgeMatchingRequest selects dead or done timers to remove from history.
	PurgeMatchingRequest = api.PurgeMatchingRequest
	// DeleteNamespaceRequest names a namespace to delete.
	DeleteNamespaceRequest = api.DeleteNamespaceRequest
	// NamespaceDeletion is the result of one step of the deletion of a namespace, or of a dry run.
	NamespaceDeletion = api.NamespaceDeletion
	// MatchingPage is the result for one page of such a selection.
	MatchingPage = api.MatchingPage
	// RunTimerRequest makes a timer due now.
	RunTimerRequest = api.RunTimerRequest
	// RetryTimerRequest arms a dead or parked timer again.
	RetryTimerRequest = api.RetryTimerRequest
	// AdvanceClockRequest moves a test clock forward by a duration.
	AdvanceClockRequest = api.AdvanceClockRequest
	// SetClockRequest moves a test clock forward to a time.
	SetClockRequest = api.SetClockRequest
	// TestClock is what a test clock shows.
	TestClock = api.TestClock
	// Key is an API key: a credential with grants.
	Key = api.Key
	// Caller is the name and the grants of a caller.
	Caller = api.Caller
	// NewKey is an API key with its new token, which no other answer contains.
	NewKey = api.NewKey
	// CreateKeyRequest creates an API key.
	CreateKeyRequest = api.CreateKeyRequest
	// RotateKeyRequest gives an API key a new token.
	RotateKeyRequest = api.RotateKeyRequest
	// Grant allows verbs in the namespaces that match a pattern.
	Grant = api.Grant
	// Verb is a kind of operation: read, write or admin.
	Verb = api.Verb
	// Shard is a unit of ownership, with its owner and its watermark.
	Shard = api.Shard
	// FlowLimit is a limit of the flow keys that a pattern matches.
	FlowLimit = api.FlowLimit
	// FlowRate is the rate of a FlowLimit.
	FlowRate = api.FlowRate
	// Flow is the present use of a flow.
	Flow = api.Flow
	// ListFlowsRequest selects flows of a namespace.
	ListFlowsRequest = api.ListFlowsRequest
	// FlowPage is one page of a list of flows.
	FlowPage = api.FlowList
	// ListTargetsRequest selects the targets of a namespace.
	ListTargetsRequest = api.ListTargetsRequest
	// TargetList are the hosts and user topics that a namespace uses in one process.
	TargetList = api.TargetList
	// Target is a host or user topic, as one namespace uses it.
	Target = api.Target
	// RetryPolicy determines how failed deliveries are retried.
	RetryPolicy = api.RetryPolicy
	// RetryPolicyInput is a retry policy of which only some fields may be set.
	RetryPolicyInput = api.RetryPolicyInput
	// Deliver is how a timer is delivered: by callback, by event, or both.
	Deliver = api.Deliver
	// Status is the state of a timer.
	Status = api.Status
	// OnConflict is what a creation does if the id is taken.
	OnConflict = api.CreateTimerRequestOnConflict
	// Namespace is a scope of timer ids, with settings for its timers.
	Namespace = api.Namespace
	// CreateNamespaceRequest creates a namespace.
	CreateNamespaceRequest = api.CreateNamespaceRequest
	// UpdateNamespaceRequest changes the given settings of a namespace.
	UpdateNamespaceRequest = api.UpdateNamespaceRequest
	// NamespaceSettings are a namespace's defaults for its timers.
	NamespaceSettings = api.NamespaceSettings
	// NamespaceSettingsInput are settings of which only some may be set.
	NamespaceSettingsInput = api.NamespaceSettingsInput
	// NamespaceQuota are the limits of a namespace. 0 means no limit.
	NamespaceQuota = api.NamespaceQuota
	// NamespaceQuotaInput are limits of which only some may be set.
	NamespaceQuotaInput = api.NamespaceQuotaInput
	// SecretsInput is one change of the signing secrets.
	SecretsInput = api.SecretsInput
	// SigningSecret identifies a secret that signs, with the time since when it does.
	SigningSecret = api.SigningSecret
	// NamespaceTLSInput are the certificates for callbacks, of which only some may be set.
	NamespaceTLSInput = api.NamespaceTLSInput
	// CallbackAuth is how callbacks authenticate to their receivers, without its secret.
	CallbackAuth = api.CallbackAuth
	// CallbackAuthInput sets how callbacks authenticate to their receivers.
	CallbackAuthInput = api.CallbackAuthInput
	// CallbackAuthType is a way to authenticate.
	CallbackAuthType = api.CallbackAuthType
	// ResultEvents selects the attempts whose result events are published: ResultsAll, ResultsFailures or ResultsOff.
	ResultEvents = api.ResultEvents
	// Headers are extra headers of callbacks.
	Headers = api.Headers
	// Preset is a named number of shards.
	Preset = api.Preset
	// Schedule is the definition and the present state of a schedule.
	Schedule = api.Schedule
	// ScheduleStatus is the state of a schedule: active, paused, parked or ended.
	ScheduleStatus = api.ScheduleStatus
	// ScheduleSpec is one source of occurrences: a cron expression, an RRULE, dates, or an interval.
	ScheduleSpec = api.ScheduleSpec
	// ScheduleExclusion leaves out the occurrences on some dates.
	ScheduleExclusion = api.ScheduleExclusion
	// CreateScheduleRequest creates a schedule.
	CreateScheduleRequest = api.CreateScheduleRequest
	// UpdateScheduleRequest changes the given fields of a schedule.
	UpdateScheduleRequest = api.UpdateScheduleRequest
	// DeleteScheduleRequest removes a schedule.
	DeleteScheduleRequest = api.DeleteScheduleRequest
	// PauseScheduleRequest pauses a schedule.
	PauseScheduleRequest = api.PauseScheduleRequest
	// ScheduleSelection identifies a schedule.
	ScheduleSelection = api.ScheduleSelection
	// ListSchedulesRequest selects a page of the schedules of a namespace.
	ListSchedulesRequest = api.ListSchedulesRequest
	// PauseMatchingSchedulesRequest selects schedules to pause.
	PauseMatchingSchedulesRequest = api.PauseMatchingSchedulesRequest
	// ResumeMatchingSchedulesRequest selects paused or parked schedules to resume.
	ResumeMatchingSchedulesRequest = api.ResumeMatchingSchedulesRequest
	// DeleteMatchingSchedulesRequest selects schedules to delete.
	DeleteMatchingSchedulesRequest = api.DeleteMatchingSchedulesRequest
	// SchedulePage is one page of a list of schedules.
	SchedulePage = api.SchedulePage
	// BackfillScheduleRequest selects a past time range of a schedule.
	BackfillScheduleRequest = api.BackfillScheduleRequest
	// ScheduleBackfill is the result of one BackfillScheduleRequest.
	ScheduleBackfill = api.ScheduleBackfill
	// PreviewScheduleRequest has the id of a schedule, or a definition that is not saved.
	PreviewScheduleRequest = api.PreviewScheduleRequest
	// SchedulePreview is the answer to a PreviewScheduleRequest.
	SchedulePreview = api.SchedulePreview
	// ScheduleOccurrence is one occurrence of a SchedulePreview.
	ScheduleOccurrence = api.ScheduleOccurrence
	// ScheduleHistoryRequest selects the decisions of a schedule.
	ScheduleHistoryRequest = api.ScheduleHistoryRequest
	// ScheduleHistory is what a schedule has decided, newest first.
	ScheduleHistory = api.ScheduleHistory
	// ScheduleDecision is what a schedule did at one instant.
	ScheduleDecision = api.ScheduleDecision
	// CallbackResponse is what a receiver may answer.
	CallbackResponse = api.CallbackResponse
	// Instant is a time in the API's JSON; At returns one.
	Instant = api.Instant
	// Change is a field of an update: Set and Clear return one, and the zero value keeps the field.
	Change[T any] = api.Change[T]
)

const (
	DeliverCallback = api.DeliverCallback
	DeliverEvent    = api.DeliverEvent
	DeliverBoth     = api.DeliverBoth

	AuthOAuth2 = api.CallbackAuthTypeOauth2
	AuthBasic  = api.CallbackAuthTypeBasic
	AuthBearer = api.CallbackAuthTypeBearer

	ResultsAll      = api.ResultEventsAll
	ResultsFailures = api.ResultEventsFailures
	ResultsOff      = api.ResultEventsOff

	VerbRead  = api.VerbRead
	VerbWrite = api.VerbWrite
	VerbAdmin = api.VerbAdmin

	OrderKey = api.ListOrderKey
	OrderDue = api.ListOrderDue

	OverdueDeliver = api.OverdueDeliver
	OverdueSkip    = api.OverdueSkip

	Replace = api.CreateTimerRequestOnConflictReplace
	Keep    = api.CreateTimerRequestOnConflictKeep
	Fail    = api.CreateTimerRequestOnConflictFail
)

// The values of the fields of schedules, and of the local times of timers. They have no type, so that a create, an update (with Set) and a
// preview accept them.
const (
	GapNext = "next"
	GapSkip = "skip"

	RepeatedFirst  = "first"
	RepeatedBoth   = "both"   // of a schedule
	RepeatedSecond = "second" // of a timer

	OverlapAllow       = "allow"
	OverlapSkip        = "skip"
	OverlapQueue       = "queue"
	OverlapCancelOther = "cancelOther"

	CatchUpAll  = "all"
	CatchUpLast = "last"
	CatchUpNone = "none"

	PendingKeep   = "keep"
	PendingDelete = "delete"

	ScheduleReplace = "replace"
	ScheduleKeep    = "keep"
	ScheduleFail    = "fail"
)

// At returns t as an Instant.
func At(t time.Time) Instant { return api.At(t) }

// Set changes a field to v.
func Set[T any](v T) Change[T] { return api.Set(v) }

// Clear resets a field to its default.
func Clear[T any]() Change[T] { return api.Clear[T]() }
