package ingest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Conversion of the domain types to the types of the API.

func renderTimer(t *timer.Timer) api.Timer {
	kept := t.Status != timer.StatusDone // not all stores keep the payload of a timer that is done
	var payload json.RawMessage
	if kept && !t.Request.Raw() {
		payload = t.Payload
	}
	local := t.Local
	if local == nil {
		local = &timer.LocalTime{}
	}
	return api.Timer{
		Namespace: t.Namespace, ID: t.ID, TimerID: t.ID, UUID: t.UUID.String(),
		Status:    api.Status(t.Status),
		ExecuteAt: instant(t.ExecuteAt), DueAt: instant(t.DueAt), ExecutedAt: optionalInstant(t.ExecutedAt),
		Deliver: api.Deliver(t.Way()), CallbackURL: t.CallbackURL,
		CallbackTimeout: timer.FormatDuration(t.CallbackTimeout), CallbackTimeoutSeconds: t.CallbackTimeout.Seconds(),
		RetryPolicy: renderRetry(&t.Retry),
		Payload:     payload, CorrelationID: t.Correlation(), Generation: t.Generation.String(),
		Attempts: int(t.Attempts), CreatedAt: instant(t.CreatedAt), UpdatedAt: instant(t.UpdatedAt),
		LastStatusCode: t.LastStatus, LastError: t.LastError, Headers: t.Headers.Map(),
		Topic: t.Topic, Key: t.EventKey, Request: renderRequest(t, kept), Window: optionalDuration(t.Window),
		ExpireAfter: optionalDuration(t.ExpireAfter), ExpiresAt: expiresAt(t), OnDone: t.OnDone, OnDead: t.OnDead,
		Pause:   renderPause(t.Pause),
		FlowKey: t.FlowKey,

		ExecuteAtLocal: local.At, TimeZone: local.Zone, Gap: api.ScheduleGap(local.Gap), Repeated: api.TimerRepeated(local.Repeated),
	}
}

// renderPause returns the zero value if the timer is not paused.
func renderPause(p *timer.Pause) api.TimerPause {
	if p == nil {
		return api.TimerPause{}
	}
	return api.TimerPause{By: p.By, Note: p.Note, At: instant(p.At)}
}

// expiresAt returns the zero Instant if the timer does not expire.
func expiresAt(t *timer.Timer) api.Instant {
	if t.ExpireAfter == 0 {
		return api.Instant{}
	}
	return instant(min(t.ExpiresAt(), timer.MaxMillis))
}

// renderRequest returns the zero request if the timer has the usual one.
func renderRequest(t *timer.Timer, withBody bool) api.TimerRequest {
	r := event.RequestOf(t, withBody)
	if r == nil {
		return api.TimerRequest{}
	}
	return api.TimerRequest{
		Method: api.RequestMethod(r.Method), Body: r.Body, BodyBase64: r.BodyBase64, ContentType: r.ContentType, Reschedule: r.Reschedule,
	}
}

func renderRetry(p *timer.RetryPolicy) api.RetryPolicy {
	return api.RetryPolicy{
		MaxAttempts: p.MaxAttempts, MaxAttemptsDuration: timer.FormatDuration(p.MaxAttemptsDuration),
		InitialInterval: timer.FormatDuration(p.InitialInterval), BackoffMultiplier: p.BackoffMultiplier,
		MaxInterval: timer.FormatDuration(p.MaxInterval),
	}
}

func renderEntry(e *store.HistoryEntry) api.HistoryEntry {
	correlation := e.CorrelationID
	if correlation == "" {
		correlation = e.Ref.UUID.String()
	}
	return api.HistoryEntry{
		Generation: e.Generation.String(), Attempt: int(e.Attempt), Outcome: api.HistoryEntryOutcome(e.Outcome.Reported(e.Error)),
		CorrelationID: correlation, ExecuteAt: instant(e.ExecuteAt), NextAt: optionalInstant(e.NextAt),
		StartedAt: instant(e.StartedAt), FinishedAt: instant(e.FinishedAt), StatusCode: e.StatusCode, Error: e.Error,
	}
}

// renderNamespace returns the visible settings. Of secrets it returns only ids and times.
func renderNamespace(ns *store.Namespace, now timer.Millis) api.Namespace {
	s := &ns.Settings
	return api.Namespace{
		Name: ns.Name, NumShards: ns.Shards.Count,
		Settings: api.NamespaceSettings{
			RetryPolicy:            renderRetry(&s.Retry),
			CallbackTimeout:        timer.FormatDuration(s.CallbackTimeout),
			CallbackTimeoutSeconds: s.CallbackTimeout.Seconds(),
			HistoryRetention:       timer.FormatDuration(s.HistoryRetention),
			DeadRetention:          timer.FormatDuration(s.DeadRetention),
			KeepPayload:            optionalDuration(s.KeepPayload),
			Headers:                s.Headers.Map(),
			FinalStatuses:          slices.Collect(s.FinalStatuses.All()),
			Secrets:                renderSecrets(s.Secrets.Live(now)),
			TLS:                    renderTLS(&s.TLS),
			CallbackAuth:           renderAuth(&s.Auth),
			EventTopics:            s.EventTopics.List(),
			HostConcurrency:        s.HostConcurrency,
			Flows:                  renderFlowLimits(s.Flows),
			OnDone:                 s.OnDone,
			OnDead:                 s.OnDead,
			Results:                api.ResultEvents(s.Results),
			Quota: api.NamespaceQuota{
				MaxPending: s.Quota.MaxPending, CreatesPerSecond: s.Quota.CreatesPerSecond, MaxPayloadBytes: s.Quota.MaxPayload,
			},
		},
		Version: ns.Version, CreatedAt: instant(ns.CreatedAt), UpdatedAt: instant(ns.UpdatedAt),
		DeletingSince: optionalInstant(s.DeletingSince),
	}
}

func renderSecrets(live []store.Secret) []api.SigningSecret {
	var all []api.SigningSecret
	for _, s := range live {
		all = append(all, api.SigningSecret{ID: s.ID, CreatedAt: instant(s.CreatedAt), ExpiresAt: optionalInstant(s.ExpiresAt)})
	}
	return all
}

// renderTLS omits the key. A key exists if the certificate does.
func renderTLS(t *store.TLS) api.NamespaceTLS {
	return api.NamespaceTLS{CA: t.CA, Certificate: t.Certificate}
}

// renderAuth omits the secret. It returns the zero value if there is no authentication.
func renderAuth(a *store.CallbackAuth) api.CallbackAuth {
	if a.Type == "" {
		return api.CallbackAuth{}
	}
	return api.CallbackAuth{
		Type: api.CallbackAuthType(a.Type), TokenURL: a.TokenURL, ClientID: a.ClientID, Scopes: strings.Fields(a.Scopes),
		Audience: a.Audience, Username: a.Username,
	}
}

func instant(m timer.Millis) api.Instant { return api.At(m.Time()) }

// optionalDuration omits zero.
func optionalDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return timer.FormatDuration(d)
}

// optionalInstant omits the zero time.
func optionalInstant(m timer.Millis) api.Instant {
	if m == 0 {
		return api.Instant{}
	}
	return instant(m)
}
