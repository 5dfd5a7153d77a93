package dynamostore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The attributes of a namespace. Its name is in the sort key. retry, timeout_ns and headers have the same names as a
// timer's.
const (
	attrBase        = "base"
	attrCount       = "count"
	attrRetention   = "retention_ns"
	attrDead        = "dead_retention_ns"
	attrKeepPayload = "keep_payload_ns"
	attrStatuses    = "final_statuses"
	attrSecrets     = "secrets"
	attrCA          = "tls_ca"
	attrCertificate = "tls_certificate"
	attrKey         = "tls_key"
	attrAuth        = "callback_auth"
	attrEventTopics = "event_topics"
	attrConcurrency = "host_concurrency"
	attrMaxPending  = "max_pending"
	attrCreates     = "creates_per_second"
	attrMaxPayload  = "max_payload"
	attrDeleting    = "deleting_since"
	attrOnDone      = "on_done"
	attrOnDead      = "on_dead"
	attrFlows       = "flows"
	attrZoneVersion = "zone_version"
	attrResults     = "results"
	// attrNext is the counter's: the next free shard number.
	attrNext = "next"
)

func namespaceKey(name string) item { return key(clusterPartition, namespaceStart+name) }

func settingsItem(set *store.Settings) item {
	it := item{}
	it.text(attrRetry, engine.FormatPolicy(&set.Retry))
	it.int(attrTimeout, int64(set.CallbackTimeout))
	it.int(attrRetention, int64(set.HistoryRetention))
	it.int(attrDead, int64(set.DeadRetention))
	it.int(attrKeepPayload, int64(set.KeepPayload))
	it.text(attrHeaders, string(set.Headers))
	it.text(attrStatuses, set.FinalStatuses.String())
	it.text(attrSecrets, set.Secrets.String())
	it.text(attrCA, set.TLS.CA)
	it.text(attrCertificate, set.TLS.Certificate)
	it.text(attrKey, set.TLS.EncryptedKey)
	it.text(attrAuth, set.Auth.String())
	it.text(attrEventTopics, string(set.EventTopics))
	it.int(attrConcurrency, int64(set.HostConcurrency))
	it.int(attrMaxPending, int64(set.Quota.MaxPending))
	it.int(attrCreates, int64(set.Quota.CreatesPerSecond))
	it.int(attrMaxPayload, int64(set.Quota.MaxPayload))
	it.time(attrDeleting, set.DeletingSince)
	it.text(attrOnDone, set.OnDone)
	it.text(attrOnDead, set.OnDead)
	it.text(attrFlows, string(set.Flows))
	it.text(attrZoneVersion, set.ZoneVersion)
	it.text(attrResults, string(set.Results))
	return it
}

func namespaceItem(ns *store.Namespace) item {
	it := settingsItem(&ns.Settings)
	it[attrBase], it[attrCount], it[attrVersion] = number(int64(ns.Shards.Base)), number(ns.Shards.Count), number(ns.Version)
	it.time(attrCreatedAt, ns.CreatedAt)
	it.time(attrUpdatedAt, ns.UpdatedAt)
	maps.Copy(it, namespaceKey(ns.Name))
	return it
}

func readNamespace(it item) (store.Namespace, error) {
	read := reader{item: it}
	ns := store.Namespace{
		Shards:    shard.Block{Base: shard.ID(read.int(attrBase)), Count: int(read.int(attrCount))},
		Version:   max(1, read.int(attrVersion)), // items of earlier releases have none
		CreatedAt: read.time(attrCreatedAt),
		UpdatedAt: read.time(attrUpdatedAt),
		Settings: store.Settings{
			CallbackTimeout:  read.duration(attrTimeout),
			HistoryRetention: read.duration(attrRetention),
			DeadRetention:    cmp.Or(read.duration(attrDead), store.DefaultDeadRetention), // items of earlier releases have none
			KeepPayload:      read.duration(attrKeepPayload),
			HostConcurrency:  cmp.Or(int(read.int(attrConcurrency)), store.DefaultHostConcurrency),
			Headers:          timer.Headers(read.text(attrHeaders)),
			EventTopics:      timer.TopicPatterns(read.text(attrEventTopics)),
			Quota: store.Quota{
				MaxPending: int(read.int(attrMaxPending)), CreatesPerSecond: int(read.int(attrCreates)),
				MaxPayload: int(read.int(attrMaxPayload)),
			},
			DeletingSince: read.time(attrDeleting),
			OnDone:        read.text(attrOnDone),
			OnDead:        read.text(attrOnDead),
			Flows:         timer.FlowLimits(read.text(attrFlows)),
			ZoneVersion:   read.text(attrZoneVersion),
			Results:       cmp.Or(store.Results(read.text(attrResults)), store.ResultsAll), // items of earlier releases have none
			TLS: store.TLS{
				CA: read.text(attrCA), Certificate: read.text(attrCertificate), EncryptedKey: read.text(attrKey),
			},
		},
	}
	if sort := read.text(sortKey); len(sort) > len(namespaceStart) {
		ns.Name = sort[len(namespaceStart):]
	}
	var err error
	if ns.Settings.Retry, err = engine.ParsePolicy(read.text(attrRetry)); err != nil {
		read.failf("%w", err)
	}
	if ns.Settings.FinalStatuses, err = timer.ParseStatusCodes(read.text(attrStatuses)); err != nil {
		read.failf("%w", err)
	}
	if ns.Settings.Secrets, err = store.ParseSecrets(read.text(attrSecrets)); err != nil {
		read.failf("%w", err)
	}
	if ns.Settings.Auth, err = store.ParseCallbackAuth(read.text(attrAuth)); err != nil {
		read.failf("%w", err)
	}
	return ns, read.err
}

// CreateNamespace implements store.Namespaces. The block comes from a counter that is incremented in the same
// transaction that writes the namespace. Concurrent calls whose counter has changed try again.
func (s *Store) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("create namespace %q", ns.Name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return store.Namespace{}, err
	}
	defer s.calls.Leave()
	for {
		made, again, err := s.createNamespace(ctx, ns)
		if err != nil {
			return made, fmt.Errorf("%s: %w", op, err)
		}
		if !again {
			return made, nil
		}
	}
}

func (s *Store) createNamespace(ctx context.Context, ns store.Namespace) (made store.Namespace, again bool, err error) {
	counter, err := s.get(ctx, s.options.Table, key(clusterPartition, counterRecord))
	if err != nil {
		return store.Namespace{}, false, err
	}
	read := reader{item: counter}
	base := read.int(attrNext)
	if read.err != nil {
		return store.Namespace{}, false, read.err
	}
	if ns.Shards.Count < 1 || base+int64(ns.Shards.Count) > math.MaxUint32 {
		return s.refuseBlock(ctx, ns)
	}
	ns.Shards.Base, ns.Version = shard.ID(base), 1
	only := condition{"attribute_not_exists(#next)", item{":end": number(base + int64(ns.Shards.Count))}}
	if counter != nil {
		only.holds = "#next = :next"
		only.values[":next"] = number(base)
	}
	const forward, free = "SET #next = :end", nothingHere
	obstacles, err := s.transact(ctx, []types.TransactWriteItem{
		{Update: &types.Update{
			TableName: &s.options.Table, Key: key(clusterPartition, counterRecord),
			UpdateExpression: aws.String(forward), ConditionExpression: &only.holds,
			ExpressionAttributeNames: names(forward), ExpressionAttributeValues: only.values,
		}},
		{Put: &types.Put{
			TableName: &s.options.Table, Item: namespaceItem(&ns), ConditionExpression: aws.String(free),
			ExpressionAttributeNames:            names(free),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
	})
	if err != nil || obstacles == nil {
		return ns, false, err
	}
	if !obstacles[1].missed {
		return store.Namespace{}, true, nil
	}
	there, err := readNamespace(obstacles[1].there)
	if err != nil {
		return store.Namespace{}, false, err
	}
	return there, false, store.ErrExists
}

// refuseBlock returns the answer if the block cannot be allocated: ErrExists if the name exists, otherwise ErrInvalid.
func (s *Store) refuseBlock(ctx context.Context, ns store.Namespace) (store.Namespace, bool, error) {
	it, err := s.get(ctx, s.options.Table, namespaceKey(ns.Name))
	if err != nil {
		return store.Namespace{}, false, err
	}
	if it != nil {
		there, err := readNamespace(it)
		if err != nil {
			return store.Namespace{}, false, err
		}
		return there, false, store.ErrExists
	}
	bad := timer.Invalid("numShards", ns.Shards.Count, "at least 1, and at most the number of free shard numbers")
	return store.Namespace{}, false, fmt.Errorf("%w: %w", store.ErrInvalid, bad)
}

// GetNamespace implements store.Namespaces.
func (s *Store) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	op := fmt.Sprintf("get namespace %q", name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return store.Namespace{}, err
	}
	defer s.calls.Leave()
	it, err := s.get(ctx, s.options.Table, namespaceKey(name))
	if err == nil && it == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Namespace{}, fmt.Errorf("%s: %w", op, err)
	}
	ns, err := readNamespace(it)
	if err != nil {
		return store.Namespace{}, fmt.Errorf("%s: %w", op, err)
	}
	return ns, nil
}

// ListNamespaces implements store.Namespaces. A page of DynamoDB has at most 1 MB.
func (s *Store) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	if err := s.calls.Enter(ctx, "list namespaces"); err != nil {
		return store.NamespacePage{}, err
	}
	defer s.calls.Leave()
	const behind = "#shard_id = :cluster AND #sk BETWEEN :from AND :upto"
	in := dynamodb.QueryInput{
		TableName: &s.options.Table, KeyConditionExpression: aws.String(behind), ExpressionAttributeNames: names(behind),
		ExpressionAttributeValues: item{
			":cluster": number(clusterPartition),
			":from":    text(namespaceStart + after + justAfter),
			":upto":    text(namespaceStart + pastAllNames),
		},
	}
	var out store.NamespacePage
	var bytes store.PageBytes
	for {
		in.Limit = aws.Int32(int32(limit + 1 - len(out.Namespaces)))
		page, err := s.query(ctx, &in)
		if err != nil {
			return store.NamespacePage{}, fmt.Errorf("list namespaces: %w", err)
		}
		for _, it := range page.Items {
			ns, err := readNamespace(it)
			if err != nil {
				return store.NamespacePage{}, fmt.Errorf("list namespaces: %w", err)
			}
			if !out.Add(ns, limit, &bytes) {
				return out, nil
			}
		}
		if page.LastEvaluatedKey == nil {
			return out, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// settingsAttributes are the attributes that an update of a namespace sets or removes.
var settingsAttributes = []string{
	attrRetry, attrTimeout, attrRetention, attrDead, attrKeepPayload,
	attrHeaders, attrStatuses, attrSecrets, attrCA, attrCertificate, attrKey,
	attrAuth, attrEventTopics, attrConcurrency, attrMaxPending, attrCreates, attrMaxPayload, attrDeleting,
	attrOnDone, attrOnDead, attrFlows, attrZoneVersion, attrResults,
}

// UpdateNamespace implements store.Namespaces.
func (s *Store) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	op := fmt.Sprintf("update namespace %q", ns.Name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return store.Namespace{}, err
	}
	defer s.calls.Leave()
	it := settingsItem(&ns.Settings)
	change, remove := "SET #updated_at = :updated_at, #version = :to", ""
	values := item{":updated_at": number(ns.UpdatedAt), ":to": number(ns.Version + 1)}
	for _, name := range settingsAttributes {
		value, ok := it[name]
		switch {
		case ok:
			change += ", #" + name + " = :" + name
			values[":"+name] = value
		case remove == "":
			remove = " REMOVE #" + name
		default:
			remove += ", #" + name
		}
	}
	only := sameNamespace(&ns, values)
	there, held, err := s.update(ctx, namespaceKey(ns.Name), change+remove, only, types.ReturnValueAllNew)
	if err == nil && there == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Namespace{}, fmt.Errorf("%s: %w", op, err)
	}
	present, err := readNamespace(there)
	if err != nil {
		return store.Namespace{}, fmt.Errorf("%s: %w", op, err)
	}
	if !held {
		return present, fmt.Errorf("%s: %w", op, store.ErrConflict)
	}
	return present, nil
}

// sameNamespace is the condition that the namespace has the version and the block of ns. It adds its values.
func sameNamespace(ns *store.Namespace, values item) condition {
	values[":version"], values[":base"] = number(ns.Version), number(int64(ns.Shards.Base))
	if ns.Version == 1 {
		// Items of earlier releases have no version.
		return condition{"#base = :base AND (#version = :version OR attribute_not_exists(#version))", values}
	}
	return condition{"#base = :base AND #version = :version", values}
}

// DeleteNamespace implements store.Namespaces. The counter of shard numbers never goes back.
func (s *Store) DeleteNamespace(ctx context.Context, ns store.Namespace) error {
	op := fmt.Sprintf("delete namespace %q", ns.Name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	there, held, err := s.remove(ctx, s.options.Table, namespaceKey(ns.Name), sameNamespace(&ns, item{}))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", op, err)
	case there == nil:
		return fmt.Errorf("%s: %w", op, store.ErrNotFound)
	case !held:
		return fmt.Errorf("%s: %w", op, store.ErrConflict)
	}
	gone, err := readNamespace(there)
	if err == nil {
		shards := gone.Shards.In(0, 1)
		err = s.each(len(shards), func(i int) error {
			_, _, err := s.remove(ctx, s.options.Table, recordKey(shards[i]), condition{})
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w: claims of its shards may remain: %w", op, store.ErrOutcomeUnknown, hideKind(err))
	}
	return nil
}
