package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Plan is everything that happens from outside in one life. It is data: it can be printed, reduced and executed again.
type Plan struct {
	Seed uint64
	// Schedulers is 2 or 3; there are always two ingests and two dispatchers.
	Schedulers int
	// Local: schedulers and dispatchers are one role, whose processes keep their due events in memory.
	Local bool
	// Narrow is the Concurrency of dispatchers; 0 means the production default. With it, events wait in the queue
	// although nothing failed.
	Narrow int
	// Circuit and OpenFor are CircuitAfter and CircuitOpenFor of dispatchers; 0 means the production default, which no
	// plan reaches.
	Circuit int
	OpenFor time.Duration
	// HostLimit is the hostConcurrency of the namespaces; 0 means the default, which no plan reaches.
	HostLimit int
	// Offsets are the nodes' clock offsets, in the order ingests, schedulers, dispatchers.
	Offsets []time.Duration
	// Releases are the initial releases of the nodes, in the same order; nil means the present one for all.
	Releases []Release
	// OnDone and OnDead: the namespace of most timers has these URLs.
	OnDone, OnDead bool
	// Lifetime is that of the tokens with which callbacks of that namespace authenticate; 0 means that they do not.
	Lifetime time.Duration
	// Results is that of the namespaces that exist at the start, except removedNamespace, which a client creates again. Empty means all.
	Results store.Results
	// Flows are the limits of flowNamespace.
	Flows []timer.FlowLimit
	// Zones are the time zone databases. Processes begin with the first one.
	Zones []Zones
	// Paid: shards become idle as soon as a sweep has found nothing in them, as on stores that charge per shard.
	// Otherwise shards with timers stay active for a minute.
	Paid   bool
	Ops    []Op
	Faults []Fault
	// Length is when clients and faults end. Then everything is healed and must settle.
	Length time.Duration
}

// backlog reports whether a namespace has a backlog. Schedulers then have small limits.
func (p *Plan) backlog() bool { return slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Bulk }) }

// has reports whether an operation meets the condition.
func (p *Plan) has(meets func(*Op) bool) bool {
	return slices.ContainsFunc(p.Ops, func(o Op) bool { return meets(&o) })
}

// failures returns the faults except orderly stops and starts.
func (p *Plan) failures() []Fault {
	return slices.DeleteFunc(slices.Clone(p.Faults), func(f Fault) bool { return f.Kind == Replace || f.Kind == NewZones && f.Count == 0 })
}

// Verb is the kind of an Op.
type Verb string

const (
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
	// RunNow makes the timer due now. It changes neither the payload nor the script.
	RunNow Verb = "run-now"
	// Pause and Resume hold the timer and end that. PauseGroup and ResumeGroup do so with all timers that have Group, by a filter.
	Pause       Verb = "pause"
	Resume      Verb = "resume"
	PauseGroup  Verb = "pause-group"
	ResumeGroup Verb = "resume-group"
	// MakeNamespace creates the namespace of operations with Late, or, with Removed, the deleted one again.
	MakeNamespace Verb = "namespace"
	// RemoveNamespace deletes the namespace of operations with Removed.
	RemoveNamespace Verb = "remove"
	// SetQuota sets the quotas of the namespace of operations with Limited, Purge purges its finished timers.
	SetQuota Verb = "quota"
	Purge    Verb = "purge"
)

// onTimer reports whether it is an operation on a timer.
func (v Verb) onTimer() bool {
	return v == Create || v == Update || v == Delete || v == RunNow || v.holds()
}

// Op is one client operation. Operations on one timer are sent one after another; each waits for its answer.
type Op struct {
	// ID is unique in the plan and is in the payload, so that every delivery identifies its operation.
	ID    int
	At    time.Duration
	Timer int
	Verb  Verb
	// Topic sends it as a command on the topic instead of HTTP. The client then does not wait for the answer.
	Topic bool
	// Node is the ingest that gets the request.
	Node int
	// Late puts the timer into a namespace that is created while the cluster runs, Bulk into one that has a backlog,
	// and Quiet into one that is idle except for a few timers during the backlog.
	Late, Bulk, Quiet bool
	// Limited puts the timer into a namespace with quotas whose finished timers are purged, and Removed into one that is
	// deleted and perhaps created again.
	Limited, Removed bool
	// Group: the timer is one of those that PauseGroup pauses. Skip: Resume or ResumeGroup skips timers whose time has passed; Rate is the
	// resumeRate of ResumeGroup, 0 means none.
	Group, Skip bool
	Rate        int
	// Flow is the flow key of the timer, and puts it into a namespace with limits of flows.
	Flow string
	// Recur is the schedule of MakeSchedule and, with only Every, of ChangeSchedule.
	Recur Recur
	// Pending: ChangeSchedule and DropSchedule delete the pending occurrences. Back is the length of the range of FillSchedule, which ends
	// at At + Soon.
	Pending bool
	Back    time.Duration
	// Local is the local time of an operation on a timer of localNamespace.
	Local Local
	// Quota is that of SetQuota, Status that of Purge and of the operations on all schedules.
	Quota  store.Quota
	Status timer.Status
	// Pad is the size of a text in the payload.
	Pad int
	// Soon is the delay from At to executeAt; it may be negative.
	Soon time.Duration
	// Event delivers an event on the topic instead of a callback.
	Event bool
	// Limit is the maxAttemptsDuration of the timer's retry policy; 0 means none.
	Limit time.Duration
	// Request is the HTTP request of the callback; the usual one without a Method. requestBody returns its body.
	Request timer.Request
	// Window is the window that begins at At + Soon; 0 means none.
	Window time.Duration
	// Expire is expireAfter. With Until it is the time from At + Soon to expiresAt, and longer than Window. 0 means none.
	Expire time.Duration
	Until  bool
	// OnDone and OnDead: the timer names these URLs. Their receiver fails the first Fails calls of its follow-up.
	OnDone, OnDead bool
	Fails          int
	// Script has the receiver's answers to deliveries of this operation's timer: for each generation of it in order,
	// one step for each attempt. Later attempts and generations are answered "done".
	Script [][]Step
}

// Answer is the kind of a receiver's answer.
type Answer string

const (
	AnswerDone       Answer = "done"       // 200, empty
	AnswerOK         Answer = "ok"         // {"ok":true}
	AnswerText       Answer = "text"       // 200 and a body that is not JSON
	AnswerAgain      Answer = "again"      // {"ok":true,"nextExecuteAt":…}
	AnswerNotAgain   Answer = "not-again"  // {"ok":false,"nextExecuteAt":…}
	AnswerNotOK      Answer = "not-ok"     // {"ok":false}
	AnswerMalformed  Answer = "malformed"  // {"ok":"yes"}
	AnswerError      Answer = "500"        // a server error
	AnswerBusy       Answer = "429"        // with Retry-After
	AnswerGone       Answer = "410"        // dead
	AnswerBad        Answer = "422"        // dead: the namespaces list it as final
	AnswerRedirect   Answer = "301"        // failed
	AnswerHang       Answer = "hang"       // no answer until the timeout
	AnswerRefuse     Answer = "refuse"     // no connection
	AnswerKill       Answer = "kill"       // kills the dispatcher
	AnswerLeasedKill Answer = "lease-kill" // kills the dispatcher after it has taken a row lease
	AnswerUnread     Answer = "unread"     // 200, and the body is Said, which does not count
)

// Failed reports whether the answer causes a retry.
func (a Answer) Failed() bool {
	switch a {
	case AnswerNotOK, AnswerMalformed, AnswerError, AnswerBusy, AnswerRedirect, AnswerHang, AnswerRefuse:
		return true
	default:
		return false
	}
}

// Again reports whether the answer has nextExecuteAt.
func (a Answer) Again() bool { return a == AnswerAgain || a == AnswerNotAgain }

// Kills reports whether the answer kills the dispatcher.
func (a Answer) Kills() bool { return a == AnswerKill || a == AnswerLeasedKill }

// Step is one answer.
type Step struct {
	Answer Answer
	// After is how long the receiver takes.
	After time.Duration
	// Next is nextExecuteAt, relative to the time of the answer.
	Next time.Duration
	// Said is the answer that AnswerUnread has the body of.
	Said Answer
	// Wait is the Retry-After of AnswerBusy; 0 means none.
	Wait time.Duration
}

// retryAfter returns the answer's Retry-After, 0 without one.
func (s *Step) retryAfter() time.Duration {
	if s.Answer == AnswerBusy {
		return s.Wait
	}
	return 0
}

// FaultKind is the kind of a fault.
type FaultKind string

const (
	// StoreFails and the next three strike store calls of Node, the Nth and the Count−1 after it. StoreFails refuses
	// them without applying them.
	StoreFails   FaultKind = "store-fails"
	StoreUnknown FaultKind = "store-unknown" // applied, the answer is lost
	StoreHangs   FaultKind = "store-hangs"   // no answer and not applied, for For
	StoreLate    FaultKind = "store-late"    // answered as unknown, applied after For
	// StoreCut: Node does not reach the store from At on, for For. Its calls are refused (Count 0), or get no answer
	// until the end of the cut (Count 1).
	StoreCut FaultKind = "store-cut"
	// BusFails and BusUnknown strike publishes of Node in the same way.
	BusFails   FaultKind = "bus-fails"   // refused
	BusUnknown FaultKind = "bus-unknown" // half of it is accepted, the answer is lost
	// HintsLost and the next two strike hints from At on, for For.
	HintsLost    FaultKind = "hints-lost"
	HintsTwice   FaultKind = "hints-twice"
	HintsDelayed FaultKind = "hints-delayed" // by up to Delay, so that they overtake others
	// Redeliver and the next strike once, at At.
	Redeliver FaultKind = "redeliver"  // unacknowledged events are delivered again
	LoseQueue FaultKind = "lose-queue" // the due queue is emptied
	// CrashQueue crashes the server of the due queue: the newest Nth messages are lost, and the 8·Count messages
	// acknowledged last before them are delivered again.
	CrashQueue FaultKind = "crash-queue"
	Revoke     FaultKind = "revoke"  // Partition of the hints gets a new owner
	Lose       FaultKind = "lose"    // like Revoke, but the owner learns of it too late
	Zombie     FaultKind = "zombie"  // Node is cut off for For without noticing
	CutOff     FaultKind = "cut-off" // Node loses its connection to the bus for For
	Crash      FaultKind = "crash"   // Node crashes and starts again after For
	// CrashAtCall: the Nth store call of Node crashes it, before (Count 0) or after (Count 1) the call is applied.
	CrashAtCall FaultKind = "crash-at-call"
	// CrashAtPublish is the same for publishes.
	CrashAtPublish FaultKind = "crash-at-publish"
	// Recreate creates the command topic again.
	Recreate FaultKind = "recreate-commands"
	// ClockStep sets the wall clock of Node's machine by Delay.
	ClockStep FaultKind = "clock-step"
	// ClockJump moves the monotonic clock of Node's machine by Delay, as a suspension does, and the store's clock cannot be
	// read for For.
	ClockJump FaultKind = "clock-jump"
	// TokensDown: the token endpoint is not available from At on, for For. It answers so (Count 0), or not at all (Count 1).
	TokensDown FaultKind = "tokens-down"
	// TokensRevoked: receivers refuse the tokens that were issued before At.
	TokensRevoked FaultKind = "tokens-revoked"
	// Replace stops the process of Node, which drains, and starts one of Release.
	Replace FaultKind = "replace"
	// NewZones is an orderly replacement (Count 0) or a crash (Count 1) after which the processes of Node have the time zone database
	// Plan.Zones[Nth].
	NewZones FaultKind = "new-zones"
)

// Fault is one fault.
type Fault struct {
	Kind FaultKind
	Node int
	At   time.Duration
	For  time.Duration
	// Nth and Count select calls. With Method, only calls of that method of the store's contract count.
	Nth       int
	Count     int
	Method    string
	Partition int
	Delay     time.Duration
	Release   Release
}

// String formats the plan for a reader.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d schedulers, narrow %d, host limit %d, circuit %d for %v, clock offsets %v, releases %v, onDone %t, onDead %t, tokens for %v, results %q, paid %t, flows %+v, zones %+v, length %v\n",
		p.Seed, p.Schedulers, p.Narrow, p.HostLimit, p.Circuit, p.OpenFor, p.Offsets, p.Releases, p.OnDone, p.OnDead, p.Lifetime, p.Results, p.Paid, p.Flows, p.Zones, p.Length)
	for _, o := range p.Ops {
		fmt.Fprintf(&b, "  op    %8v  %+v\n", o.At, o)
	}
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "  fault %8v  %+v\n", f.At, f)
	}
	return b.String()
}
