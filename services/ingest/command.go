package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
	"github.com/timerbus/timerbus/services/ingest/internal/quota"
)

// command is one command for a timer or a schedule, from HTTP, the command topic or an outbox. All operations of the store except a
// delete also need a revision, which op adds.
type command struct {
	// verb is create, update, delete, pause or resume: what the command does to the row of the timer or the schedule.
	verb event.Verb
	// id is the timer id, or ScheduleIDPrefix and the id of the schedule.
	namespaceName, id string
	// namespace is nil until resolve has found it and checked the rights. Other commands share it, so its fields are not changed.
	namespace *store.Namespace
	ref       store.Ref

	spec         timer.Spec       // create
	onConflict   store.OnConflict // create
	patch        timer.Patch      // update
	unlessPaused bool             // update
	pause        *store.Pause     // pause: who and why
	resume       *store.Resume    // resume; of a timer whose time has passed: its new time, or that it expires undelivered
	ifGeneration timer.Generation // all except create; 0: any

	// applySteps, if set, applies a command for a schedule that needs several calls of the store. It may be called again after an error.
	// Other commands need one write, of the operation that op returns.
	applySteps func(ctx context.Context, c *command) (outcome, error)
}

// origin describes the arrival of a request, or of a command from the command topic or an outbox.
type origin struct {
	// caller is the sender of an HTTP request, and access.Anyone() for topic and outbox commands.
	caller access.Caller
	// source is the CloudEvents source of a topic command, "outbox" for a row of an outbox, and empty for an HTTP request.
	source string
	// received is the time from which executeIn counts. uncertain means that the clock was uncertain then (I8).
	received  timer.Millis
	uncertain bool
	// commandKey identifies a command of the command topic or of an outbox; empty for an HTTP request and for a message without a
	// position.
	commandKey string
	// correlationID is used for a create without one in its body.
	correlationID string
	// trace is stored in the timer's headers, so only a create and an update that replaces the headers use it.
	trace event.Trace
}

// receivedNow returns the origin, without a caller, of something that is received now: an HTTP request, or a topic command
// whose message has no time.
func (s *Service) receivedNow() origin {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	return origin{received: now, uncertain: !certain}
}

// by returns the name of the sender, which a pause stores in the timer. It is empty if the sender is unknown.
func (o *origin) by() string {
	if o.source == "" && o.caller.Name == access.Anyone().Name {
		return ""
	}
	return cmp.Or(o.source, o.caller.Name)
}

// requireCertain returns errClock if received is uncertain, because no due time may be computed from it.
func (o *origin) requireCertain() error {
	if o.uncertain {
		return errClock
	}
	return nil
}

// prepare reads a command's body and adds the defaults of the namespace. The answer that the client gets for an error is that of
// refuse(err). A status of 500 or more (the store is unavailable, the clock is uncertain) means that the same command may succeed
// later; other errors are final. The caller has checked the verb. If prepare fails after it has decoded the body, the command
// still has the name of the namespace and the timer id.
func (s *Service) prepare(ctx context.Context, verb event.Verb, body []byte, from origin) (command, error) {
	c := command{verb: verb}
	if len(body) > s.cfg.BodyLimit {
		return c, bodyTooLarge(s.cfg.BodyLimit)
	}
	switch verb {
	case event.VerbCreate:
		b, err := decode.ReadCreate(body)
		if err != nil {
			return c, err
		}
		return s.prepareCreate(ctx, &b, from)
	case event.VerbUpdate:
		b, err := decode.ReadUpdate(body)
		if err == nil {
			err = s.resolveTimer(ctx, &c, b.Selection, from)
		}
		if err != nil {
			return c, err
		}
		if err := from.requireCertain(); err != nil {
			return c, err
		}
		c.ifGeneration = b.IfGeneration
		c.patch, err = b.Patch(c.ref.UUID, from.received, &c.namespace.Settings, s.cfg.Zones.Load)
		if err == nil {
			err = s.checkURLs(valueOf(c.patch.CallbackURL), valueOf(c.patch.OnDone), valueOf(c.patch.OnDead))
		}
		if err == nil && c.patch.Topic != nil {
			err = s.checkTopic(ctx, &c, *c.patch.Topic, from.received)
		}
		if err == nil && c.patch.FlowKey != nil {
			err = s.checkFlow(ctx, &c, *c.patch.FlowKey, from.received)
		}
		if err == nil && c.patch.Payload != nil {
			err = checkPayload(c.namespace, *c.patch.Payload)
		}
		if c.patch.Headers != nil {
			c.patch.Headers = new(from.trace.Into(*c.patch.Headers))
		}
		return c, err
	case event.VerbDelete:
		b, err := decode.ReadDelete(body)
		if err != nil {
			return c, err
		}
		return s.prepareDelete(ctx, &b, from)
	case event.VerbPause:
		b, err := decode.ReadPause(body)
		if err != nil {
			return c, err
		}
		return s.preparePause(ctx, &b, from)
	case event.VerbResume:
		b, err := decode.ReadResume(body)
		if err != nil {
			return c, err
		}
		return s.prepareResume(ctx, &b, from)
	default:
		return s.prepareSchedule(ctx, verb, body, from)
	}
}

func (s *Service) prepareCreate(ctx context.Context, b *decode.Create, from origin) (command, error) {
	c := command{verb: event.VerbCreate, onConflict: b.OnConflict}
	if err := s.resolveTimer(ctx, &c, b.Selection, from); err != nil {
		return c, err
	}
	if strings.HasPrefix(c.id, shard.FollowUpPrefix) {
		return c, timer.Invalid("id", c.id,
			fmt.Sprintf("an id that does not begin with %q, because that prefix is reserved for the service", shard.FollowUpPrefix))
	}
	if from.correlationID != "" && !b.HasCorrelationID() {
		b.SetCorrelationID(from.correlationID)
	}
	err := from.requireCertain()
	if err != nil {
		return c, err
	}
	c.spec, err = b.Spec(c.ref.UUID, from.received, &c.namespace.Settings, s.cfg.Zones.Load)
	if err == nil {
		err = s.checkSpec(ctx, &c, &c.spec, from.received)
	}
	c.spec.Headers = from.trace.Into(c.spec.Headers)
	return c, err
}

// checkSpec returns an error if the configuration or the command's namespace does not allow the spec of a new timer.
func (s *Service) checkSpec(ctx context.Context, c *command, spec *timer.Spec, received timer.Millis) error {
	if err := s.checkURLs(spec.CallbackURL, spec.OnDone, spec.OnDead); err != nil {
		return err
	}
	if err := s.checkTopic(ctx, c, spec.Topic, received); err != nil {
		return err
	}
	if err := s.checkFlow(ctx, c, spec.FlowKey, received); err != nil {
		return err
	}
	return checkPayload(c.namespace, spec.Payload)
}

// checkURLs returns an error if dispatchers would refuse to call one of these URLs of a timer or a namespace. Empty ones are
// accepted.
func (s *Service) checkURLs(callback, onDone, onDead string) error {
	if err := s.checkURL("callbackUrl", callback); err != nil {
		return err
	}
	if err := s.checkURL("onDone", onDone); err != nil {
		return err
	}
	return s.checkURL("onDead", onDead)
}

// valueOf returns the value of a field that may be absent, or the empty string.
func valueOf(field *string) string {
	if field == nil {
		return ""
	}
	return *field
}

// checkSettings returns an error if dispatchers would refuse to call a URL in the request. It does not check the URLs that the
// namespace already has: they may be older than the policy.
func (s *Service) checkSettings(f *decode.SettingsFields) error {
	if err := s.checkURL("callbackAuth.tokenUrl", f.TokenURL()); err != nil {
		return err
	}
	onDone, onDead := f.OutcomeURLs()
	return s.checkURLs("", valueOf(onDone), valueOf(onDead))
}

// checkURL returns an error if dispatchers would refuse to call the URL in this field. Dispatchers also check the addresses
// of host names, when they resolve them.
func (s *Service) checkURL(field, target string) error {
	if target == "" || s.cfg.Policy == nil {
		return nil
	}
	return s.cfg.Policy.CheckURL(field, target)
}

// useQuota counts a create in the quotas of its namespace, or returns an error if a quota does not allow it. It is called
// after prepare and before the write, and not again if the write is repeated. So a create that prepare refuses uses no quota, but
// one that the store refuses uses some. A topic command uses no quota if the stored position shows that it was applied earlier; where
// no positions are stored, a redelivered create uses quota again.
func (s *Service) useQuota(c *command) error {
	if c.verb != event.VerbCreate {
		return nil
	}
	err := s.quotas.Admit(c.namespace)
	if exceeded, ok := errors.AsType[*quota.ExceededError](err); ok {
		s.metrics.overQuota.WithLabelValues(string(exceeded.Quota)).Inc()
	}
	return err
}

// checkPayload returns an error if the namespace's quota does not allow a payload of this size.
func checkPayload(ns *store.Namespace, payload []byte) error {
	if limit := ns.Settings.Quota.Payload(); len(payload) > limit {
		return &timer.PayloadTooLargeError{Size: len(payload), Limit: limit}
	}
	return nil
}

func (s *Service) prepareDelete(ctx context.Context, b *decode.Delete, from origin) (command, error) {
	c := command{verb: event.VerbDelete, ifGeneration: b.IfGeneration}
	err := s.resolveTimer(ctx, &c, b.Selection, from)
	return c, err
}

// resolveTimer checks the right to write, reads the namespace from the directory, and sets the command's namespace, timer id and
// ref. Except for creates, the id of the row of a schedule is an error. Except for deletes, a namespace that is being deleted is an error.
func (s *Service) resolveTimer(ctx context.Context, c *command, selection decode.Selection, from origin) error {
	err := s.resolve(ctx, c, selection.Namespace, selection.ID, from)
	if err == nil && c.verb != event.VerbCreate { // prepareCreate refuses all reserved ids, those of schedules too, with another error
		err = requireTimer(selection.Namespace, selection.ID)
	}
	return err
}

// requireTimer returns an error if the id is that of the row of a schedule, which is not a timer for clients.
func requireTimer(namespace, id string) error {
	if strings.HasPrefix(id, shard.ScheduleIDPrefix) {
		return timerNotFound(namespace, id)
	}
	return nil
}

// resolve is resolveTimer without the check of the id.
func (s *Service) resolve(ctx context.Context, c *command, namespace, id string, from origin) error {
	c.namespaceName, c.id = namespace, id
	ns, err := s.lookup(ctx, from, access.Write, namespace)
	if err == nil && c.verb != event.VerbDelete {
		err = requireOpen(ns)
	}
	if err != nil {
		return err
	}
	c.namespace, c.ref = ns, refOf(ns, id)
	return nil
}

// lookup returns the namespace with this name, or an error if it does not exist or the caller does not have this right in it. A
// namespace that the directory knows as marked for deletion is read from the store again: perhaps it was removed, and a new namespace
// has its name. Do not modify the returned namespace.
func (s *Service) lookup(ctx context.Context, from origin, right access.Verb, name string) (*store.Namespace, error) {
	if err := from.require(right, name); err != nil {
		return nil, err
	}
	ns, err := s.cfg.Directory.Lookup(ctx, name)
	if err == nil && ns.Settings.DeletingSince != 0 {
		ns, err = s.cfg.Directory.Renew(ctx, name)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = namespaceNotFound(name)
	}
	return ns, err
}

// requireOpen returns an error if the namespace, which lookup has returned, is being deleted.
func requireOpen(ns *store.Namespace) error {
	if ns.Settings.DeletingSince != 0 {
		return namespaceDeleting(ns.Name)
	}
	return nil
}

func refOf(ns *store.Namespace, id string) store.Ref {
	return store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}
}

// op returns the command as an operation of the store. The caller gives a new revision each time; a delete does not use it.
func (c *command) op(revision timer.Revision) store.Op {
	switch c.verb {
	case event.VerbCreate:
		return store.Put{
			Ref: c.ref, Namespace: c.namespaceName, ID: c.id, Revision: revision,
			Spec: c.spec, OnConflict: c.onConflict,
		}
	case event.VerbUpdate:
		return store.Update{Ref: c.ref, Revision: revision, Patch: c.patch, IfGeneration: c.ifGeneration, UnlessPaused: c.unlessPaused}
	case event.VerbPause:
		p := *c.pause
		p.Ref, p.Revision, p.IfGeneration = c.ref, revision, c.ifGeneration
		return p
	case event.VerbResume:
		r := *c.resume
		r.Ref, r.Revision, r.IfGeneration = c.ref, revision, c.ifGeneration
		return r
	default:
		return store.Delete{Ref: c.ref, IfGeneration: c.ifGeneration}
	}
}
