package relational

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The columns of namespaces: those that never change, those of the settings, and the rest.
const (
	fixedColumns    = "name, shard_base, shard_count, created_at"
	settingsColumns = "retry_policy, callback_timeout_ns, history_retention_ns, dead_retention_ns, headers, final_statuses, secrets, " +
		"tls_ca, tls_certificate, tls_key, callback_auth, event_topics, host_concurrency, max_pending, creates_per_second, max_payload, " +
		"deleting_since, on_done, on_dead, keep_payload_ns, flows, zone_version, results"
	namespaceColumns = fixedColumns + ", " + settingsColumns + ", version, updated_at"
)

func (s *Statements) addNamespaces(d *Dialect, prepare func(name, sql string) *Statement) {
	selection := "SELECT " + namespaceColumns + " FROM namespaces WHERE "
	s.selectNamespace = prepare("select_namespace", selection+"name = @name")
	s.selectNamespaces = prepare("select_namespaces", selection+d.ByName+" > @after ORDER BY "+d.ByName+" LIMIT @limit")
	if d.LockNamespaces != "" {
		s.lockNamespaces = prepare("lock_namespaces", d.LockNamespaces)
	}
	// The result is the end of the last block, also of those that were removed.
	s.nextBase = prepare("next_base", "SELECT max(b.upto) FROM (SELECT coalesce(max(shard_base + shard_count), 0) AS upto "+
		"FROM namespaces UNION ALL SELECT upto FROM removed_blocks) b")
	s.keepBlock = prepare("keep_block", "UPDATE removed_blocks SET upto = @end WHERE upto < @end")
	s.deleteNamespace = prepare("delete_namespace",
		"DELETE FROM namespaces WHERE name = @name AND version = @version AND shard_base = @base")
	for i, table := range d.Claims {
		s.deleteClaims = append(s.deleteClaims, prepare(fmt.Sprint("delete_claims_", i+1),
			"DELETE FROM "+table+" WHERE "+d.ClaimShard+" >= @base AND "+d.ClaimShard+" < @end"))
	}
	s.insertNamespace = prepare("insert_namespace", "INSERT INTO namespaces ("+namespaceColumns+") VALUES (@"+
		strings.ReplaceAll(namespaceColumns, ", ", ", @")+")")
	var settings []string
	for column := range strings.SplitSeq(settingsColumns, ", ") {
		settings = append(settings, column+" = @"+column)
	}
	s.updateNamespace = prepare("update_namespace", "UPDATE namespaces SET "+strings.Join(settings, ", ")+
		", updated_at = @updated_at, version = version + 1 WHERE name = @name AND version = @version AND shard_base = @shard_base")
}

// CreateNamespace implements store.Namespaces.
func (c *Core) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("create namespace %q", ns.Name)
	var answer store.Namespace
	var refused error
	err := c.db.Write(ctx, op, func(run Run) error {
		answer, refused = ns, nil
		var base int64
		var present []store.Namespace
		calls := []Call{
			{Statement: c.statements.nextBase, Row: func(r Row) error { return r.Scan(&base) }},
			c.readNamespace(ns.Name, &present),
		}
		if lock := c.statements.lockNamespaces; lock != nil {
			calls = append([]Call{{Statement: lock}}, calls...)
		}
		if err := run(calls...); err != nil {
			return err
		}
		if len(present) > 0 {
			answer, refused = present[0], store.ErrExists
			return nil
		}
		if ns.Shards.Count < 1 || base+int64(ns.Shards.Count) > math.MaxUint32 {
			bad := timer.Invalid("numShards", ns.Shards.Count, "at least 1, and at most the number of free shard numbers")
			answer, refused = store.Namespace{}, fmt.Errorf("%w: %w", store.ErrInvalid, bad)
			return nil
		}
		answer.Shards.Base, answer.Version = shard.ID(base), 1
		return run(Call{Statement: c.statements.insertNamespace, Values: namespaceValues(&answer)})
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
func (c *Core) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	op := fmt.Sprintf("get namespace %q", name)
	var found []store.Namespace
	err := c.db.Read(ctx, op, func(run Run) error { return run(c.readNamespace(name, &found)) })
	if err != nil {
		return store.Namespace{}, err
	}
	if len(found) == 0 {
		return store.Namespace{}, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	return found[0], nil
}

// ListNamespaces implements store.Namespaces.
func (c *Core) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	var page store.NamespacePage
	err := c.db.Read(ctx, "list namespaces", func(run Run) error {
		page = store.NamespacePage{}
		var bytes store.PageBytes
		var last policies
		return run(Call{
			Statement: c.statements.selectNamespaces,
			Values:    Values{"after": after, "limit": int64(limit) + 1},
			Row: func(r Row) error {
				ns, err := scanNamespace(r, &last)
				if err == nil && !page.Add(ns, limit, &bytes) {
					err = ErrStop
				}
				return err
			},
		})
	})
	if err != nil {
		return store.NamespacePage{}, err
	}
	return page, nil
}

// UpdateNamespace implements store.Namespaces.
func (c *Core) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("update namespace %q", ns.Name)
	var present []store.Namespace
	var changed int64
	err := c.db.Write(ctx, op, func(run Run) error {
		return run(Call{Statement: c.statements.updateNamespace, Values: namespaceValues(&ns), Changed: &changed},
			c.readNamespace(ns.Name, &present))
	})
	switch {
	case err != nil:
		return store.Namespace{}, err
	case len(present) == 0:
		return store.Namespace{}, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	case changed == 0:
		return present[0], fmt.Errorf("%s: %w", op, store.ErrConflict)
	default:
		return present[0], nil
	}
}

// DeleteNamespace implements store.Namespaces.
func (c *Core) DeleteNamespace(ctx context.Context, ns store.Namespace) error {
	op := fmt.Sprintf("delete namespace %q", ns.Name)
	var refused error
	err := c.db.Write(ctx, op, func(run Run) error {
		refused = nil
		var present []store.Namespace
		calls := []Call{c.readNamespace(ns.Name, &present)}
		if lock := c.statements.lockNamespaces; lock != nil {
			calls = append([]Call{{Statement: lock}}, calls...)
		}
		if err := run(calls...); err != nil {
			return err
		}
		switch {
		case len(present) == 0:
			refused = store.ErrNotFound
			return nil
		case present[0].Version != ns.Version || present[0].Shards.Base != ns.Shards.Base:
			refused = fmt.Errorf("version %d with the shards %v: %w", present[0].Version, present[0].Shards, store.ErrConflict)
			return nil
		}
		block := present[0].Shards
		values := Values{
			"name": ns.Name, "version": ns.Version, "base": int64(block.Base), "end": int64(block.Base) + int64(block.Count),
		}
		calls = []Call{{Statement: c.statements.keepBlock, Values: values}}
		for _, claims := range c.statements.deleteClaims {
			calls = append(calls, Call{Statement: claims, Values: values})
		}
		return run(append(calls, Call{Statement: c.statements.deleteNamespace, Values: values})...)
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return fmt.Errorf("%s: %w", op, refused)
	default:
		return nil
	}
}

// namespaceValues returns the values of all columns. Settings that are not set are NULL.
func namespaceValues(ns *store.Namespace) Values {
	var last policies
	s := &ns.Settings
	return Values{
		"name": ns.Name, "shard_base": int64(ns.Shards.Base), "shard_count": int64(ns.Shards.Count), "created_at": ns.CreatedAt,
		"retry_policy": last.Format(&s.Retry), "callback_timeout_ns": int64(s.CallbackTimeout),
		"history_retention_ns": int64(s.HistoryRetention), "dead_retention_ns": int64(s.DeadRetention),
		"headers": orNull(string(s.Headers)), "final_statuses": orNull(s.FinalStatuses.String()), "secrets": orNull(s.Secrets.String()),
		"tls_ca": orNull(s.TLS.CA), "tls_certificate": orNull(s.TLS.Certificate), "tls_key": orNull(s.TLS.EncryptedKey),
		"callback_auth": orNull(s.Auth.String()),
		"event_topics":  orNull(string(s.EventTopics)), "host_concurrency": int64(s.HostConcurrency),
		"max_pending": int64(s.Quota.MaxPending), "creates_per_second": int64(s.Quota.CreatesPerSecond),
		"max_payload": int64(s.Quota.MaxPayload), "deleting_since": int64(s.DeletingSince),
		"on_done": orNull(s.OnDone), "on_dead": orNull(s.OnDead), "flows": orNull(string(s.Flows)),
		"keep_payload_ns": int64(s.KeepPayload), "zone_version": orNull(s.ZoneVersion), "results": string(s.Results),
		"version": ns.Version, "updated_at": ns.UpdatedAt,
	}
}

// readNamespace reads a namespace into a slice.
func (c *Core) readNamespace(name string, into *[]store.Namespace) Call {
	*into = nil
	var last policies
	return Call{Statement: c.statements.selectNamespace, Values: Values{"name": name}, Row: func(r Row) error {
		ns, err := scanNamespace(r, &last)
		*into = append(*into, ns)
		return err
	}}
}

func scanNamespace(r Row, last *policies) (store.Namespace, error) {
	var ns store.Namespace
	var base, count, concurrency, pending, creates, payload, deleting int64
	var policy, statuses, secrets, auth string
	s := &ns.Settings
	err := r.Scan(&ns.Name, &base, &count, &ns.CreatedAt, &policy, (*int64)(&s.CallbackTimeout), (*int64)(&s.HistoryRetention),
		(*int64)(&s.DeadRetention), (*string)(&s.Headers), &statuses, &secrets, &s.TLS.CA, &s.TLS.Certificate, &s.TLS.EncryptedKey,
		&auth, (*string)(&s.EventTopics), &concurrency, &pending, &creates, &payload, &deleting, &s.OnDone, &s.OnDead,
		(*int64)(&s.KeepPayload), (*string)(&s.Flows), &s.ZoneVersion, (*string)(&s.Results), &ns.Version, &ns.UpdatedAt)
	if err != nil {
		return ns, err
	}
	ns.Shards = shard.Block{Base: shard.ID(base), Count: int(count)}
	s.HostConcurrency, s.DeletingSince = int(concurrency), timer.Millis(deleting)
	s.Quota = store.Quota{MaxPending: int(pending), CreatesPerSecond: int(creates), MaxPayload: int(payload)}
	if s.Retry, err = last.Parse(policy); err == nil {
		s.FinalStatuses, err = timer.ParseStatusCodes(statuses)
	}
	if err == nil {
		s.Secrets, err = store.ParseSecrets(secrets)
	}
	if err == nil {
		s.Auth, err = store.ParseCallbackAuth(auth)
	}
	if err != nil {
		return ns, fmt.Errorf("namespace %q: %w", ns.Name, err)
	}
	return ns, nil
}
