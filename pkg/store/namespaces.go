package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Namespaces is the part that all services use.
type Namespaces interface {
	// CreateNamespace creates a namespace with Version 1 and allocates the next free block of shard numbers. It ignores
	// the given Shards.Base and Version. If the name exists, it returns the present namespace and ErrExists. Blocks
	// never overlap and are never reused.
	CreateNamespace(ctx context.Context, ns Namespace) (Namespace, error)
	// GetNamespace returns the namespace, or ErrNotFound.
	GetNamespace(ctx context.Context, name string) (Namespace, error)
	// ListNamespaces returns a page of the namespaces whose names are after `after`, ordered by name as bytes: at most
	// limit (1 to 1,000), and at most MaxPageBytes of settings. A page may have fewer namespaces and still have a Next.
	ListNamespaces(ctx context.Context, after string, limit int) (NamespacePage, error)
	// UpdateNamespace changes Settings and UpdatedAt, never Shards or CreatedAt, if the present Version and Shards.Base equal
	// the given ones, and increments Version. A namespace that is created again with the name of a deleted namespace starts at
	// version 1, too, but has another block. If two callers have read the same state, one of them gets ErrConflict with the
	// present state. If there is no such namespace, it returns ErrNotFound.
	//
	// PostgreSQL and SQLite: UPDATE … WHERE name AND version AND shard_base. DynamoDB: a condition on the attributes.
	UpdateNamespace(ctx context.Context, ns Namespace) (Namespace, error)
	// DeleteNamespace removes a namespace and the claims of its shards, if its present Version and Shards.Base equal the given
	// ones; otherwise it returns ErrConflict and changes nothing. If there is no such namespace, it returns ErrNotFound. Its block
	// is never allocated again: a namespace that is created later with the name gets another block. The caller makes sure
	// that the namespace has no timers and that no process writes any. Remaining history is removed by Purge.
	//
	// PostgreSQL and SQLite: one transaction that also stores the end of the highest removed block. DynamoDB: a conditional
	// DeleteItem, and then one for each shard's record. If one of these fails, the answer is ErrOutcomeUnknown and records
	// may remain, which nothing reads.
	DeleteNamespace(ctx context.Context, ns Namespace) error
}

// Namespace is the scope of timer ids, a tenant, and the unit of configuration.
type Namespace struct {
	Name string
	// Shards never changes.
	Shards   shard.Block
	Settings Settings
	// Version is incremented by every update. It starts at 1.
	Version   int64
	CreatedAt timer.Millis
	UpdatedAt timer.Millis
}

// NamespacePage is one page of a list of namespaces.
type NamespacePage struct {
	Namespaces []Namespace
	// Next is the `after` of the next page. It is empty on the last page.
	Next string
}

// Add appends a namespace, unless the page is full: it has limit namespaces, or would have more than MaxPageBytes of
// settings. If the page is full, Add sets Next and returns false, and engines read no further.
func (p *NamespacePage) Add(ns Namespace, limit int, bytes *PageBytes) (added bool) {
	n := len(p.Namespaces)
	if n == limit || !bytes.fits(ns.Settings.size()) {
		p.Next = p.Namespaces[n-1].Name
		return false
	}
	p.Namespaces = append(p.Namespaces, ns)
	return true
}

// MaxNamespacePage is the largest limit of ListNamespaces.
const MaxNamespacePage = 1000

// AllNamespaces iterates over all pages. It stops at the first error.
func AllNamespaces(ctx context.Context, s Namespaces) iter.Seq2[Namespace, error] {
	return func(yield func(Namespace, error) bool) {
		for after := ""; ; {
			page, err := s.ListNamespaces(ctx, after, MaxNamespacePage)
			if err != nil {
				yield(Namespace{}, err)
				return
			}
			for _, ns := range page.Namespaces {
				if !yield(ns, nil) {
					return
				}
			}
			if after = page.Next; after == "" {
				return
			}
		}
	}
}

// Settings are a namespace's defaults for its timers, and its settings for callbacks and events. They can be compared
// with ==.
type Settings struct {
	// Retry is the default of the timers' retry policies, for each field that a timer does not set.
	Retry timer.RetryPolicy
	// CallbackTimeout is the default of timers that do not set it.
	CallbackTimeout time.Duration
	// HistoryRetention is how long outcomes stay in history: 1 minute to 365 days.
	HistoryRetention time.Duration
	// DeadRetention is how long the final outcomes of dead timers stay in history, 1 minute to 365 days. A dead timer
	// can be retried until then.
	DeadRetention time.Duration
	// KeepPayload, if not 0, is how long done timers stay in history with their payload, so that they can be retried:
	// HistoryRetention to 30 days. If it is 0, the payload is removed when a timer is done.
	KeepPayload time.Duration
	// Headers are sent with every callback. Headers of the timer override those with the same name.
	Headers timer.Headers
	// FinalStatuses are the 4xx answers that make a timer dead, in addition to 410.
	FinalStatuses timer.StatusCodes
	// Secrets sign callbacks.
	Secrets Secrets
	// TLS has the certificates that callbacks trust, and the client certificate that they present.
	TLS TLS
	// Auth authenticates callbacks to their receivers.
	Auth CallbackAuth
	// HostConcurrency bounds the concurrent callbacks to one host and port in each dispatcher: 1 to 1,024.
	HostConcurrency int
	// EventTopics are the user topics to which timers may send their events, in addition to the common topic.
	EventTopics timer.TopicPatterns
	// Quota bounds the creates of timers. Ingest enforces it.
	Quota Quota
	// OnDone and OnDead are the URLs that are called when a timer is done, or dead, unless the timer has its own.
	OnDone, OnDead string
	// Results selects the attempts whose result events are published.
	Results Results
	// Flows limit the deliveries of timers that have a flow key.
	Flows timer.FlowLimits
	// DeletingSince, if not 0, marks a namespace that is being deleted, and is the time of the mark.
	DeletingSince timer.Millis
	// ZoneVersion is the version of the time zone database with which ingest last checked the local times of the namespace's timers;
	// empty if it has not. Clients neither see nor set it.
	ZoneVersion string
}

// Limits of Settings.HistoryRetention and Settings.DeadRetention, and their defaults.
const (
	MinHistoryRetention     = time.Minute
	MaxHistoryRetention     = 365 * 24 * time.Hour
	DefaultHistoryRetention = 24 * time.Hour
	DefaultDeadRetention    = 30 * 24 * time.Hour
)

// MaxKeepPayload is the largest Settings.KeepPayload.
const MaxKeepPayload = 30 * 24 * time.Hour

// Limits of Settings.HostConcurrency, and its default.
const (
	MinHostConcurrency     = 1
	MaxHostConcurrency     = 1024
	DefaultHostConcurrency = 64
)

// Results selects the attempts whose result events are published: all, those that failed, or none.
type Results string

// The values of Results. ResultsFailures leaves out the attempts with the outcomes done and rescheduled.
const (
	ResultsAll      Results = "all"
	ResultsFailures Results = "failures"
	ResultsOff      Results = "off"
)

// Publishes reports whether the result event of an attempt with this outcome is published. A value that is not known here, which a
// later release may have stored, counts as ResultsAll.
func (r Results) Publishes(o Outcome) bool {
	switch r {
	case ResultsOff:
		return false
	case ResultsFailures:
		return o != OutcomeDone && o != OutcomeRescheduled
	default:
		return true
	}
}

// CheckResults returns an error for a text that is not a value of Results.
func CheckResults(r Results) error {
	switch r {
	case ResultsAll, ResultsFailures, ResultsOff:
		return nil
	default:
		return timer.Invalid("results", string(r), `"all", "failures" or "off"`)
	}
}

// DefaultSettings are those of the table in docs/design.md, section 2.
func DefaultSettings() Settings {
	return Settings{
		Retry:            timer.DefaultRetryPolicy(),
		CallbackTimeout:  timer.DefaultCallbackTimeout,
		HistoryRetention: DefaultHistoryRetention,
		DeadRetention:    DefaultDeadRetention,
		HostConcurrency:  DefaultHostConcurrency,
		Results:          ResultsAll,
	}
}

// size is the approximate size of the settings in memory, in bytes.
func (s *Settings) size() int {
	size := len(s.Headers) + len(s.TLS.CA) + len(s.TLS.Certificate) + len(s.TLS.EncryptedKey) + len(s.EventTopics) +
		len(s.OnDone) + len(s.OnDead) + len(s.Flows) + len(s.ZoneVersion) + s.Auth.size()
	for i := range s.Secrets {
		size += len(s.Secrets[i].Encrypted)
	}
	return size
}

// Check returns an error for the first setting that is outside its limits.
func (s *Settings) Check() error {
	if s.CallbackTimeout < timer.MinCallbackTimeout || s.CallbackTimeout > timer.MaxCallbackTimeout {
		return timer.Invalid("callbackTimeout", s.CallbackTimeout, "1 s to 5 min")
	}
	if err := checkRetention("historyRetention", s.HistoryRetention); err != nil {
		return err
	}
	if err := checkRetention("deadRetention", s.DeadRetention); err != nil {
		return err
	}
	if s.KeepPayload != 0 && (s.KeepPayload < s.HistoryRetention || s.KeepPayload > MaxKeepPayload) {
		return timer.Invalid("keepPayload", s.KeepPayload,
			fmt.Sprintf("%q, the historyRetention, to \"720h\", or null", timer.FormatDuration(s.HistoryRetention)))
	}
	if s.HostConcurrency < MinHostConcurrency || s.HostConcurrency > MaxHostConcurrency {
		return timer.Invalid("hostConcurrency", s.HostConcurrency, "1 to 1024")
	}
	if err := CheckResults(s.Results); err != nil {
		return err
	}
	if err := s.Headers.Check(); err != nil {
		return err
	}
	if err := s.Auth.check(s.Headers); err != nil {
		return err
	}
	if err := s.EventTopics.Check(); err != nil {
		return err
	}
	if err := s.Quota.check(); err != nil {
		return err
	}
	if err := s.Flows.Check(); err != nil {
		return err
	}
	for _, u := range []struct{ field, url string }{{"onDone", s.OnDone}, {"onDead", s.OnDead}} {
		if u.url == "" {
			continue
		}
		if err := timer.CheckURL(u.field, u.url); err != nil {
			return err
		}
	}
	return s.Retry.Check()
}

func checkRetention(field string, d time.Duration) error {
	if d < MinHistoryRetention || d > MaxHistoryRetention {
		return timer.Invalid(field, d, `"1m" to "8760h"`)
	}
	return nil
}

// DoneRetention returns how long a done timer stays in history.
func (s *Settings) DoneRetention() time.Duration { return max(s.HistoryRetention, s.KeepPayload) }
