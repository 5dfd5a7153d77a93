package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	namespaceColumns = `name, shard_base, shard_count, retry_policy, callback_timeout_ns, history_retention_ns, dead_retention_ns,
	headers, final_statuses, secrets, tls_ca, tls_certificate, tls_key, event_topics, host_concurrency, version, created_at, updated_at`
	selectNamespace  = "SELECT " + namespaceColumns + " FROM namespaces WHERE name = ?"
	selectNamespaces = "SELECT " + namespaceColumns + " FROM namespaces WHERE name > ? ORDER BY name LIMIT ?"
	selectNextBase   = "SELECT coalesce(max(shard_base + shard_count), 0) FROM namespaces"
	insertNamespace  = "INSERT INTO namespaces (" + namespaceColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	updateNamespace  = `UPDATE namespaces SET retry_policy = ?, callback_timeout_ns = ?, history_retention_ns = ?, dead_retention_ns = ?,
	headers = ?, final_statuses = ?, secrets = ?, tls_ca = ?, tls_certificate = ?, tls_key = ?, event_topics = ?, host_concurrency = ?,
	updated_at = ?, version = version + 1
WHERE name = ? AND version = ?`
)

// CreateNamespace implements store.Namespaces.
func (s *Store) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("create namespace %q", ns.Name)
	var answer store.Namespace
	var refused error
	err := s.write(ctx, op, 1, 0, func(c *conn) (err error) {
		answer, refused, err = c.createNamespace(ns)
		return err
	})
	if err == nil && refused != nil {
		err = fmt.Errorf("%s: %w", op, refused)
	}
	if err != nil && refused == nil {
		return store.Namespace{}, err
	}
	return answer, err
}

func (c *conn) createNamespace(ns store.Namespace) (answer store.Namespace, refused, err error) {
	present, found, err := c.namespace(ns.Name)
	if err != nil {
		return store.Namespace{}, nil, err
	}
	if found {
		return present, store.ErrExists, nil
	}
	var base int64
	if _, err := c.one(selectNextBase, nil, &base); err != nil {
		return store.Namespace{}, nil, err
	}
	if ns.Shards.Count < 1 || base+int64(ns.Shards.Count) > math.MaxUint32 {
		bad := timer.Invalid("numShards", ns.Shards.Count, "at least 1, and at most the number of free shard numbers")
		return store.Namespace{}, fmt.Errorf("%w: %w", store.ErrInvalid, bad), nil
	}
	ns.Shards.Base, ns.Version = shard.ID(base), 1
	args := append([]any{ns.Name, base, ns.Shards.Count}, c.settingsValues(&ns.Settings)...)
	_, err = c.exec(insertNamespace, append(args, ns.Version, ns.CreatedAt, ns.UpdatedAt)...)
	return ns, nil, err
}

// settingsValues returns the columns of the settings, in the order of the statements. Settings that are not set are
// NULL.
func (c *conn) settingsValues(s *store.Settings) []any {
	return []any{
		c.policies.Format(&s.Retry), int64(s.CallbackTimeout), int64(s.HistoryRetention), int64(s.DeadRetention),
		orNull(string(s.Headers)), orNull(s.FinalStatuses.String()), orNull(s.Secrets.String()),
		orNull(s.TLS.CA), orNull(s.TLS.Certificate), orNull(s.TLS.EncryptedKey), orNull(string(s.EventTopics)), s.HostConcurrency,
	}
}

// GetNamespace implements store.Namespaces.
func (s *Store) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	op := fmt.Sprintf("get namespace %q", name)
	var ns store.Namespace
	var found bool
	err := s.read(ctx, op, func(c *conn) (err error) {
		ns, found, err = c.namespace(name)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	return ns, err
}

// ListNamespaces implements store.Namespaces.
func (s *Store) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	var page store.NamespacePage
	err := s.read(ctx, "list namespaces", func(c *conn) error {
		var bytes store.PageBytes
		return c.each(func(rows *sql.Rows) error {
			ns, err := c.scanNamespace(rows)
			if err == nil && !page.Add(ns, limit, &bytes) {
				err = errStop
			}
			return err
		}, selectNamespaces, after, limit+1)
	})
	if err != nil {
		return store.NamespacePage{}, err
	}
	return page, nil
}

// UpdateNamespace implements store.Namespaces.
func (s *Store) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("update namespace %q", ns.Name)
	var answer store.Namespace
	var found bool
	var changed int64
	err := s.write(ctx, op, 1, 0, func(c *conn) (err error) {
		changed, err = c.exec(updateNamespace, append(c.settingsValues(&ns.Settings), ns.UpdatedAt, ns.Name, ns.Version)...)
		if err == nil {
			answer, found, err = c.namespace(ns.Name)
		}
		return err
	})
	switch {
	case err != nil:
		return store.Namespace{}, err
	case !found:
		return store.Namespace{}, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	case changed == 0:
		return answer, fmt.Errorf("%s: %w", op, store.ErrConflict)
	default:
		return answer, nil
	}
}

func (c *conn) namespace(name string) (ns store.Namespace, found bool, err error) {
	err = c.each(func(rows *sql.Rows) (err error) {
		found = true
		ns, err = c.scanNamespace(rows)
		return err
	}, selectNamespace, name)
	return ns, found, err
}

func (c *conn) scanNamespace(rows *sql.Rows) (store.Namespace, error) {
	var ns store.Namespace
	var policy string
	var headers, statuses, secrets, ca, certificate, key, topics sql.NullString
	s := &ns.Settings
	err := rows.Scan(&ns.Name, &ns.Shards.Base, &ns.Shards.Count, &policy, (*int64)(&s.CallbackTimeout),
		(*int64)(&s.HistoryRetention), (*int64)(&s.DeadRetention), &headers, &statuses, &secrets, &ca, &certificate, &key, &topics,
		&s.HostConcurrency, &ns.Version, &ns.CreatedAt, &ns.UpdatedAt)
	if err != nil {
		return ns, err
	}
	s.Headers = timer.Headers(headers.String)
	s.TLS = store.TLS{CA: ca.String, Certificate: certificate.String, EncryptedKey: key.String}
	s.EventTopics = timer.TopicPatterns(topics.String)
	if s.Retry, err = c.policies.Parse(policy); err != nil {
		return ns, err
	}
	if s.FinalStatuses, err = timer.ParseStatusCodes(statuses.String); err != nil {
		return ns, fmt.Errorf("namespace %q: %w", ns.Name, err)
	}
	if s.Secrets, err = store.ParseSecrets(secrets.String); err != nil {
		return ns, fmt.Errorf("namespace %q: %w", ns.Name, err)
	}
	return ns, nil
}
