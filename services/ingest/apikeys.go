package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// CreateKey implements api.ServerInterface.
func (h *handler) CreateKey(w http.ResponseWriter, r *http.Request) {
	h.serveKeys(w, r, func(ctx context.Context, keys *access.Keys, body []byte, from origin) (answer, error) {
		c, err := decode.ReadKeyCreate(body)
		if err != nil {
			return answer{}, err
		}
		ends, err := c.Ends(from.received)
		if err != nil {
			return answer{}, err
		}
		key, token, err := keys.Create(ctx, c.Name, c.Grants, ends, from.caller.Name)
		if err != nil {
			return answer{}, keyFailed(c.Name, err)
		}
		h.audit(from, "API key created", "key", c.Name, "grants", access.Format(c.Grants))
		return answer{status: http.StatusOK, body: api.NewKey{Key: renderKey(&key), Token: token}}, nil
	})
}

// RotateKey implements api.ServerInterface.
func (h *handler) RotateKey(w http.ResponseWriter, r *http.Request) {
	h.serveKeys(w, r, func(ctx context.Context, keys *access.Keys, body []byte, from origin) (answer, error) {
		c, err := decode.ReadKeyRotate(body)
		if err != nil {
			return answer{}, err
		}
		ends, err := c.Ends(from.received)
		if err != nil {
			return answer{}, err
		}
		key, token, err := keys.Rotate(ctx, c.Name, c.Overlap, ends)
		if err != nil {
			return answer{}, keyFailed(c.Name, err)
		}
		h.audit(from, "API key rotated", "key", c.Name)
		return answer{status: http.StatusOK, body: api.NewKey{Key: renderKey(&key), Token: token}}, nil
	})
}

// RevokeKey implements api.ServerInterface.
func (h *handler) RevokeKey(w http.ResponseWriter, r *http.Request) {
	h.serveKeys(w, r, func(ctx context.Context, keys *access.Keys, body []byte, from origin) (answer, error) {
		name, err := decode.ReadKeyName(body)
		if err != nil {
			return answer{}, err
		}
		if err := keys.Revoke(ctx, name); err != nil {
			return answer{}, keyFailed(name, err)
		}
		h.audit(from, "API key revoked", "key", name)
		return answer{status: http.StatusNoContent}, nil
	})
}

// ListKeys implements api.ServerInterface.
func (h *handler) ListKeys(w http.ResponseWriter, r *http.Request) {
	h.serveKeys(w, r, func(ctx context.Context, keys *access.Keys, body []byte, _ origin) (answer, error) {
		if err := decode.ReadNothing(body); err != nil {
			return answer{}, err
		}
		all, err := keys.List(ctx)
		if err != nil {
			return answer{}, err
		}
		list := api.KeyList{Keys: make([]api.Key, len(all))}
		for i := range all {
			list.Keys[i] = renderKey(&all[i])
		}
		return answer{status: http.StatusOK, body: list}, nil
	})
}

// GetCaller implements api.ServerInterface.
func (h *handler) GetCaller(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(_ context.Context, body []byte, from origin) (answer, error) {
		if err := decode.ReadNothing(body); err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, body: api.Caller{Name: from.caller.Name, Grants: renderGrants(from.caller.Grants)}}, nil
	})
}

// serveKeys serves a request about API keys.
func (h *handler) serveKeys(
	w http.ResponseWriter, r *http.Request,
	route func(ctx context.Context, keys *access.Keys, body []byte, from origin) (answer, error),
) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		if err := from.requireEverywhere(access.Admin); err != nil {
			return answer{}, err
		}
		keys := h.access.Keys()
		if keys == nil {
			return answer{}, &refusal{
				status: http.StatusForbidden, code: api.ErrorCodeForbidden, details: details{},
				message: "API keys are not accepted: start the service with a token or an identity provider, on a store that has API keys",
			}
		}
		return route(ctx, keys, body, from)
	})
}

// keyFailed returns the client's error for a failed change of a key.
func keyFailed(name string, err error) error {
	switch {
	case errors.Is(err, access.ErrKeyExists):
		return &refusal{
			status: http.StatusConflict, code: api.ErrorCodeKeyExists, details: details{"name": name},
			message: fmt.Sprintf("there is an API key %q: rotate it, revoke it, or choose another name", name),
		}
	case errors.Is(err, access.ErrKeyNotFound):
		return &refusal{
			status: http.StatusNotFound, code: api.ErrorCodeKeyNotFound, details: details{"name": name},
			message: fmt.Sprintf("there is no API key %q", name),
		}
	default:
		return commit.WriteError(err, 0, 0)
	}
}

func renderKey(k *access.Key) api.Key {
	out := api.Key{
		Name: k.Name, Grants: renderGrants(k.Grants), Tokens: make([]api.KeyToken, len(k.Secrets)),
		CreatedAt: instant(k.CreatedAt), CreatedBy: k.CreatedBy,
	}
	for i, s := range k.Secrets {
		out.Tokens[i] = api.KeyToken{CreatedAt: instant(s.CreatedAt), ExpiresAt: optionalInstant(s.ExpiresAt)}
	}
	return out
}

// audit logs an administrative action after it was applied.
func (h *handler) audit(from origin, action string, attributes ...any) {
	h.cfg.Logger.With(attributes...).Info("audit", "action", action, "caller", from.caller.Name)
}

func renderGrants(grants []access.Grant) []api.Grant {
	out := make([]api.Grant, len(grants))
	for i, g := range grants {
		out[i].Namespaces = g.Namespaces
		for _, v := range g.Verbs {
			out[i].Verbs = append(out[i].Verbs, api.Verb(v))
		}
	}
	return out
}
