package ingest

import (
	"context"
	"errors"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// CreateNamespace implements api.ServerInterface.
func (h *handler) CreateNamespace(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		c, err := decode.ReadNamespaceCreate(body)
		if err != nil {
			return answer{}, err
		}
		if err := from.require(access.Admin, c.Name); err != nil {
			return answer{}, err
		}
		if err := h.checkSettings(&c.SettingsFields); err != nil {
			return answer{}, err
		}
		settings, err := c.Apply(store.DefaultSettings(), h.encryption(c.Name, from))
		if err != nil {
			return answer{}, err
		}
		settings.ZoneVersion = h.cfg.Zones.Version // it has no timers
		ns, err := h.cfg.Store.CreateNamespace(ctx, store.Namespace{
			Name: c.Name, Shards: shard.Block{Count: c.NumShards}, Settings: settings,
			CreatedAt: from.received, UpdatedAt: from.received,
		})
		if errors.Is(err, store.ErrExists) {
			if ns.Settings.DeletingSince != 0 {
				return answer{}, namespaceDeleting(ns.Name)
			}
			differs, unfit := c.Conflicts(ns.Settings, h.encryption(c.Name, from))
			switch {
			case unfit != nil:
				return answer{}, unfit
			case ns.Shards.Count != c.NumShards:
				return answer{}, shardsDiffer(&ns, c.NumShards)
			case len(differs) > 0:
				return answer{}, settingsDiffer(&ns, differs)
			}
			return answer{status: http.StatusOK, body: renderNamespace(&ns, from.received)}, nil
		}
		return h.namespaceWritten(ns, from, "namespace created", err)
	})
}

// encryption returns the parameters for encrypting the secrets in a namespace's settings.
func (h *handler) encryption(namespace string, from origin) *decode.Encryption {
	return &decode.Encryption{Namespace: namespace, Keys: h.cfg.Keys, Now: from.received}
}

// namespaceWritten answers with a namespace that was just written, updates the directory, and logs the action.
func (h *handler) namespaceWritten(ns store.Namespace, from origin, action string, err error) (answer, error) {
	if err := commit.WriteError(err, 0, 0); err != nil {
		return answer{}, err
	}
	h.cfg.Directory.Learn(ns)
	h.audit(from, action, "namespace", ns.Name, "version", ns.Version)
	return answer{status: http.StatusOK, body: renderNamespace(&ns, from.received)}, nil
}

// GetNamespace implements api.ServerInterface.
func (h *handler) GetNamespace(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		name, err := decode.ReadNamespaceName(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.namespace(ctx, from, access.Read, name)
		if err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, body: renderNamespace(&ns, from.received)}, nil
	})
}

// namespace reads a namespace in which the caller has a right from the store, because the directory's copy may be older.
func (h *handler) namespace(ctx context.Context, from origin, right access.Verb, name string) (store.Namespace, error) {
	if err := from.require(right, name); err != nil {
		return store.Namespace{}, err
	}
	ns, err := h.cfg.Store.GetNamespace(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return ns, namespaceNotFound(name)
	}
	return ns, err
}

// ListNamespaces implements api.ServerInterface.
func (h *handler) ListNamespaces(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		list, err := decode.ReadNamespaceList(body)
		if err != nil {
			return answer{}, err
		}
		// No namespace is larger than the request that created it.
		return h.pageAnswer(ctx, list.Limit, h.cfg.BodyLimit, func() ([]byte, error) {
			page, err := h.cfg.Store.ListNamespaces(ctx, list.After, list.Limit)
			if err != nil {
				return nil, err
			}
			out := api.NamespaceList{
				Namespaces: make([]api.Namespace, 0, len(page.Namespaces)), NextCursor: decode.WriteCursor(store.Cursor(page.Next)),
			}
			for i := range page.Namespaces {
				if ns := &page.Namespaces[i]; from.caller.May(access.Read, ns.Name) {
					out.Namespaces = append(out.Namespaces, renderNamespace(ns, from.received))
				}
			}
			return encode(out)
		})
	})
}

// UpdateNamespace implements api.ServerInterface.
func (h *handler) UpdateNamespace(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		u, err := decode.ReadNamespaceUpdate(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.namespace(ctx, from, access.Admin, u.Name)
		if err == nil {
			err = h.checkSettings(&u.SettingsFields)
		}
		// Another node may write between the read and the write. Each conflict means that another write succeeded, so
		// the loop ends; the end of ctx ends it in any case.
		for err == nil {
			if ns.Settings.DeletingSince != 0 {
				return answer{}, namespaceDeleting(ns.Name)
			}
			if u.IfVersion != 0 && ns.Version != u.IfVersion {
				return answer{}, versionConflict(&ns, u.IfVersion)
			}
			if ns.Settings, err = u.Apply(ns.Settings, h.encryption(ns.Name, from)); err != nil {
				return answer{}, err
			}
			ns.UpdatedAt = max(from.received, ns.UpdatedAt+1) // increases even if the clock was set back
			ns, err = h.cfg.Store.UpdateNamespace(ctx, ns)
			if !errors.Is(err, store.ErrConflict) {
				return h.namespaceWritten(ns, from, "namespace updated", err)
			}
			err = nil // ns is the present state
		}
		return answer{}, err
	})
}
