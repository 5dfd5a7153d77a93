package postgresstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const namespaceColumns = `name, shard_base, shard_count, retry_policy, callback_timeout_ns, history_retention_ns,
	dead_retention_ns, headers, final_statuses, secrets, tls_ca, tls_certificate, tls_key, event_topics,
	host_concurrency, version, created_at, updated_at`

var (
	// lockNamespaces ensures that only one namespace is created at a time, so that blocks never overlap. It does not
	// block readers.
	lockNamespaces = statement{"lock_namespaces", "LOCK TABLE namespaces IN SHARE ROW EXCLUSIVE MODE"}
	// nextBase returns the end of the last block.
	nextBase         = statement{"next_base", "SELECT coalesce(max(shard_base + shard_count), 0)::bigint FROM namespaces"}
	selectNamespace  = statement{"select_namespace", "SELECT " + namespaceColumns + " FROM namespaces WHERE name = $1"}
	selectNamespaces = statement{"select_namespaces", "SELECT " + namespaceColumns + ` FROM namespaces
WHERE name COLLATE "C" > $1::text ORDER BY name COLLATE "C" LIMIT $2::bigint`}
	insertNamespace = statement{
		"insert_namespace",
		"INSERT INTO namespaces (" + namespaceColumns + ")" +
			" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
	}
	updateNamespace = statement{"update_namespace", `UPDATE namespaces SET retry_policy = $2, callback_timeout_ns = $3,
	history_retention_ns = $4, dead_retention_ns = $5, headers = $6, final_statuses = $7, secrets = $8, tls_ca = $9,
	tls_certificate = $10, tls_key = $11, event_topics = $12, host_concurrency = $13, updated_at = $14, version = version + 1
WHERE name = $1 AND version = $15 RETURNING ` + namespaceColumns}
)

// CreateNamespace implements store.Namespaces.
func (s *Store) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("create namespace %q", ns.Name)
	s.makeDaysFor(ctx, ns.Settings.HistoryRetention)
	var answer store.Namespace
	var refused error
	err := s.write(ctx, op, latest, func(t *transaction) error {
		answer, refused = ns, nil
		var base int64
		var present []store.Namespace
		err := t.exchange(ctx,
			call{statement: lockNamespaces},
			call{statement: nextBase, row: func(r *record) { base = r.int8() }},
			namespaceCall(selectNamespace, &present, textValue(ns.Name)))
		if err != nil {
			return err
		}
		if len(present) > 0 {
			answer, refused = present[0], store.ErrExists
			return t.abandon(ctx)
		}
		if ns.Shards.Count < 1 || base+int64(ns.Shards.Count) > math.MaxUint32 {
			bad := timer.Invalid("numShards", ns.Shards.Count, "at least 1, and at most the number of free shard numbers")
			answer, refused = store.Namespace{}, fmt.Errorf("%w: %w", store.ErrInvalid, bad)
			return t.abandon(ctx)
		}
		answer.Shards.Base, answer.Version = shard.ID(base), 1
		args := append([][]byte{textValue(ns.Name), int8Value(base), int8Value(int64(ns.Shards.Count))}, settingsValues(&ns.Settings)...)
		return t.commit(ctx, call{
			statement: insertNamespace,
			args:      append(args, int8Value(answer.Version), instantValue(ns.CreatedAt), instantValue(ns.UpdatedAt)),
		})
	})
	if err != nil {
		return store.Namespace{}, err
	}
	if refused != nil {
		return answer, fmt.Errorf("%s: %w", op, refused)
	}
	return answer, nil
}

// GetNamespace implements store.Namespaces.
func (s *Store) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	op := fmt.Sprintf("get namespace %q", name)
	found, err := s.namespaces(ctx, op, selectNamespace, textValue(name))
	if err != nil {
		return store.Namespace{}, err
	}
	if len(found) == 0 {
		return store.Namespace{}, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	return found[0], nil
}

// ListNamespaces implements store.Namespaces.
func (s *Store) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	var page store.NamespacePage
	var bytes store.PageBytes
	full := false
	err := s.read(ctx, "list namespaces", func(c *conn) error {
		page, bytes, full = store.NamespacePage{}, 0, false // this may be a retry
		return c.exchange(ctx, namespaceRows(selectNamespaces, func(ns store.Namespace) {
			full = full || !page.Add(ns, limit, &bytes)
		}, textValue(after), int8Value(int64(limit)+1)))
	})
	if err != nil {
		return store.NamespacePage{}, err
	}
	return page, nil
}

// UpdateNamespace implements store.Namespaces.
func (s *Store) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("update namespace %q", ns.Name)
	s.makeDaysFor(ctx, ns.Settings.HistoryRetention)
	var updated, present []store.Namespace
	err := s.write(ctx, op, latest, func(t *transaction) error {
		args := append([][]byte{textValue(ns.Name)}, settingsValues(&ns.Settings)...)
		args = append(args, instantValue(ns.UpdatedAt), int8Value(ns.Version))
		return t.commit(ctx,
			namespaceCall(updateNamespace, &updated, args...), namespaceCall(selectNamespace, &present, textValue(ns.Name)))
	})
	switch {
	case err != nil:
		return store.Namespace{}, err
	case len(updated) > 0:
		return updated[0], nil
	case len(present) > 0:
		return present[0], fmt.Errorf("%s: %w", op, store.ErrConflict)
	default:
		return store.Namespace{}, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
}

// settingsValues returns the columns of the settings, in the order of the statements. Settings that are not set are
// NULL.
func settingsValues(s *store.Settings) [][]byte {
	var policies policyMemo
	return [][]byte{
		textValue(policies.Format(&s.Retry)), int8Value(int64(s.CallbackTimeout)), int8Value(int64(s.HistoryRetention)),
		int8Value(int64(s.DeadRetention)),
		textOrNull(string(s.Headers)), textOrNull(s.FinalStatuses.String()), textOrNull(s.Secrets.String()),
		textOrNull(s.TLS.CA), textOrNull(s.TLS.Certificate), textOrNull(s.TLS.EncryptedKey), textOrNull(string(s.EventTopics)),
		int8Value(int64(s.HostConcurrency)),
	}
}

func textOrNull(text string) []byte {
	if text == "" {
		return nil
	}
	return textValue(text)
}

func (s *Store) namespaces(ctx context.Context, op string, what statement, args ...[]byte) ([]store.Namespace, error) {
	var all []store.Namespace
	err := s.read(ctx, op, func(c *conn) error { return c.exchange(ctx, namespaceCall(what, &all, args...)) })
	if err != nil {
		return nil, err
	}
	return all, nil
}

// namespaceCall reads namespaces into a slice.
func namespaceCall(what statement, into *[]store.Namespace, args ...[]byte) call {
	*into = nil
	return namespaceRows(what, func(ns store.Namespace) { *into = append(*into, ns) }, args...)
}

// namespaceRows reads namespaces one by one.
func namespaceRows(what statement, take func(store.Namespace), args ...[]byte) call {
	var policies policyMemo
	return call{statement: what, args: args, row: func(r *record) {
		ns := store.Namespace{Name: r.text()}
		ns.Shards.Base = shard.ID(r.int8())
		ns.Shards.Count = int(r.int8())
		ns.Settings.Retry = policies.read(r)
		ns.Settings.CallbackTimeout = time.Duration(r.int8())
		ns.Settings.HistoryRetention = time.Duration(r.int8())
		ns.Settings.DeadRetention = time.Duration(r.int8())
		ns.Settings.Headers = timer.Headers(r.text())
		var err error
		if ns.Settings.FinalStatuses, err = timer.ParseStatusCodes(r.text()); err != nil {
			r.failf("namespace %q: %w", ns.Name, err)
		}
		if ns.Settings.Secrets, err = store.ParseSecrets(r.text()); err != nil {
			r.failf("namespace %q: %w", ns.Name, err)
		}
		ns.Settings.TLS = store.TLS{CA: r.text(), Certificate: r.text(), EncryptedKey: r.text()}
		ns.Settings.EventTopics = timer.TopicPatterns(r.text())
		ns.Settings.HostConcurrency = int(r.int8())
		ns.Version = r.int8()
		ns.CreatedAt, _ = r.instant()
		ns.UpdatedAt, _ = r.instant()
		take(ns)
	}}
}
