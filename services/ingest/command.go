package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
	"github.com/timerbus/timerbus/services/ingest/internal/quota"
)

// command is one create, update or delete, over HTTP or the topic. The store's operation of a create or an update
// also needs a revision, which op adds.
type command struct {
	verb      event.Verb
	namespace store.Namespace
	id        string
	ref       store.Ref

	spec         timer.Spec       // create
	onConflict   store.OnConflict // create
	patch        timer.Patch      // update
	ifGeneration timer.Generation // update, delete; 0: any
}

// origin is the context of a request or a topic command.
type origin struct {
	// caller has the rights that apply to it.
	caller access.Caller
	// received is the time from which executeIn counts. It is uncertain if the clock was not trusted.
	received  timer.Millis
	uncertain bool
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

// requireCertain returns errClock if received is uncertain, because no due time may be computed from it.
func (o *origin) requireCertain() error {
	if o.uncertain {
		return errClock
	}
	return nil
}

// prepare reads a command's body and adds the defaults of the namespace. Its error, converted by refuse, is the client's
// error. If the converted error has a status of 500 or more (the store is unavailable, the clock is uncertain), the command
// may succeed when it is repeated; other errors are final.
// If prepare fails after it has decoded the body, the command still has the name of the namespace and the timer id.
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
		if c.patch, err = b.Patch(from.received, &c.namespace.Settings); err == nil && c.patch.CallbackURL != nil {
			err = s.checkTarget(*c.patch.CallbackURL)
		}
		if err == nil && c.patch.Topic != nil {
			err = s.checkTopic(ctx, &c, *c.patch.Topic, from.received)
		}
		if err == nil && c.patch.Payload != nil {
			err = checkPayload(&c.namespace, *c.patch.Payload)
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
	default:
		return c, fmt.Errorf("prepare: unknown verb %q", verb)
	}
}

func (s *Service) prepareCreate(ctx context.Context, b *decode.Create, from origin) (command, error) {
	c := command{verb: event.VerbCreate, onConflict: b.OnConflict}
	if err := s.resolveTimer(ctx, &c, b.Selection, from); err != nil {
		return c, err
	}
	if from.correlationID != "" && !b.HasCorrelationID() {
		b.SetCorrelationID(from.correlationID)
	}
	err := from.requireCertain()
	if err != nil {
		return c, err
	}
	if c.spec, err = b.Spec(from.received, &c.namespace.Settings); err == nil {
		err = s.checkTarget(c.spec.CallbackURL)
	}
	if err == nil {
		err = s.checkTopic(ctx, &c, c.spec.Topic, from.received)
	}
	if err == nil {
		err = checkPayload(&c.namespace, c.spec.Payload)
	}
	c.spec.Headers = from.trace.Into(c.spec.Headers)
	return c, err
}

// checkTarget refuses a callback URL that no dispatcher would call. Host names other than
// localhost are checked by the dispatcher, when it resolves them.
func (s *Service) checkTarget(callbackURL string) error {
	if callbackURL == "" || s.cfg.Policy == nil {
		return nil
	}
	return s.cfg.Policy.CheckURL(callbackURL)
}

// withinQuota returns an error if a quota of the namespace does not allow a create. It is called once for each command, immediately
// before its write: a command that is refused for another reason, or that the store has already applied, uses no quota.
func (s *Service) withinQuota(c *command) error {
	if c.verb != event.VerbCreate {
		return nil
	}
	err := s.quotas.Admit(&c.namespace)
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

// resolveTimer sets the command's namespace, timer id and ref. It looks up the namespace, not the timer.
func (s *Service) resolveTimer(ctx context.Context, c *command, selection decode.Selection, from origin) error {
	c.namespace.Name, c.id = selection.Namespace, selection.ID
	ns, err := s.lookup(ctx, from, access.Write, selection.Namespace)
	if err == nil && c.verb != event.VerbDelete {
		err = s.requireOpen(ctx, &ns)
	}
	if err != nil {
		return err
	}
	c.namespace, c.ref = ns, refOf(&ns, selection.ID)
	return nil
}

// lookup returns a namespace in which the caller may do something.
func (s *Service) lookup(ctx context.Context, from origin, do access.Verb, name string) (store.Namespace, error) {
	if err := from.require(do, name); err != nil {
		return store.Namespace{}, err
	}
	ns, err := s.cfg.Directory.Lookup(ctx, name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Namespace{}, namespaceNotFound(name)
	case err != nil:
		return store.Namespace{}, err
	default:
		return *ns, nil
	}
}

// requireOpen returns a refusal if the namespace is being deleted. If the cached namespace was deleted and created again,
// requireOpen replaces it with the new one.
func (s *Service) requireOpen(ctx context.Context, ns *store.Namespace) error {
	if ns.Settings.DeletingSince == 0 {
		return nil
	}
	present, err := s.cfg.Directory.Renew(ctx, ns.Name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return namespaceNotFound(ns.Name)
	case err != nil:
		return err
	case present.Settings.DeletingSince != 0:
		return namespaceDeleting(ns.Name)
	}
	*ns = *present
	return nil
}

func refOf(ns *store.Namespace, id string) store.Ref {
	return store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}
}

// op returns the command as an operation of the store. Every try of a create or an update uses a new revision.
func (c *command) op(revision timer.Revision) store.Op {
	switch c.verb {
	case event.VerbCreate:
		return store.Put{
			Ref: c.ref, Namespace: c.namespace.Name, ID: c.id, Revision: revision,
			Spec: c.spec, OnConflict: c.onConflict,
		}
	case event.VerbUpdate:
		return store.Update{Ref: c.ref, Revision: revision, Patch: c.patch, IfGeneration: c.ifGeneration}
	default:
		return store.Delete{Ref: c.ref, IfGeneration: c.ifGeneration}
	}
}
