package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/store"
)

const (
	// schemaVersion is the newest version that this program supports. oldestSchema is the newest version that the
	// oldest compatible program supports, and oldestProgram is that program's version.
	//
	// 2: timers and namespaces have topics. A program of schema 1 would publish events of timers with a topic to the
	// common topic. No item is rewritten.
	//
	// 3: timers have planned times, and namespaces final statuses. A program of schema 2 would lose the former and
	// ignore the latter. No item is rewritten.
	schemaVersion = 3
	oldestSchema  = 3
	oldestProgram = "0.2"

	attrSchema        = "schema"
	attrOldestSchema  = "oldest_schema"
	attrOldestProgram = "oldest_program"

	// tableWait bounds how long the creation of a table may take.
	tableWait = 5 * time.Minute
)

// Status reads the state of the schema. It changes nothing.
func Status(ctx context.Context, o Options) (store.Schema, error) {
	s, err := newStore(ctx, o)
	if err != nil {
		return store.Schema{}, err
	}
	schema, err := s.schema(ctx)
	if err != nil && !errors.Is(err, errHalf) {
		return store.Schema{}, fmt.Errorf("open store %s: %w", s.options.where(), firstLine(err))
	}
	return schema, nil
}

// errHalf: some parts of the schema exist, but not all.
var errHalf = errors.New("the schema is not complete: run `" + store.MigrateCommand + "` again")

// schema checks both tables and reads the schema record, which Migrate writes last.
func (s *Store) schema(ctx context.Context) (store.Schema, error) {
	schema := store.Schema{Known: schemaVersion}
	there := 0
	for _, want := range s.tables() {
		is, err := s.describe(ctx, *want.TableName)
		if err != nil {
			return schema, err
		}
		if is == nil {
			continue
		}
		there++
		if err := compare(is, &want); err != nil {
			return schema, err
		}
	}
	if there == 0 {
		return schema, nil
	}
	if there < len(s.tables()) {
		return schema, errHalf
	}
	it, err := s.get(ctx, s.options.Table, key(clusterPartition, schemaRecord))
	if err != nil {
		return schema, err
	}
	if it == nil {
		return schema, errHalf
	}
	read := reader{item: it}
	schema.Version, schema.Oldest = read.int(attrSchema), read.int(attrOldestSchema)
	schema.OldestProgram = read.text(attrOldestProgram)
	return schema, read.err
}

// tables returns the tables that Migrate creates.
func (s *Store) tables() []dynamodb.CreateTableInput {
	o := &s.options
	keys := func(sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(partitionKey), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
		}
	}
	define := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	both := []types.AttributeDefinition{
		define(partitionKey, types.ScalarAttributeTypeN), define(sortKey, types.ScalarAttributeTypeS),
	}
	all := []dynamodb.CreateTableInput{
		{TableName: &o.History, KeySchema: keys(sortKey), AttributeDefinitions: both},
		{
			TableName: &o.Table, KeySchema: keys(sortKey),
			AttributeDefinitions: append(slices.Clone(both), define(dueKey, types.ScalarAttributeTypeS)),
			LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
				IndexName: aws.String(dueIndex), KeySchema: keys(dueKey),
				Projection: &types.Projection{
					ProjectionType:   types.ProjectionTypeInclude,
					NonKeyAttributes: []string{attrRevision, attrGeneration, attrAttempts, attrUpdatedAt, attrTarget},
				},
			}},
		},
	}
	for i := range all {
		all[i].BillingMode = types.BillingModePayPerRequest
		if o.Read > 0 {
			all[i].BillingMode = types.BillingModeProvisioned
			all[i].ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: &o.Read, WriteCapacityUnits: &o.Write}
		}
		for _, name := range slices.Sorted(maps.Keys(o.Tags)) {
			all[i].Tags = append(all[i].Tags, types.Tag{Key: aws.String(name), Value: aws.String(o.Tags[name])})
		}
	}
	return all
}

// Migrate creates the missing tables and the schema record, and returns the state of the schema before and after. It
// never downgrades, does not change a newer schema, and may run again at any time, also in several processes at the
// same time.
func Migrate(ctx context.Context, o Options) (before, after store.Schema, err error) {
	s, err := newStore(ctx, o)
	if err != nil {
		return before, before, err
	}
	before, err = s.schema(ctx)
	if err == nil && before.Version > before.Known {
		return before, before, before.Usable()
	}
	if err == nil || errors.Is(err, errHalf) {
		err = s.migrate(ctx)
	}
	if err == nil {
		after, err = s.schema(ctx)
	}
	if err != nil {
		return before, before, fmt.Errorf("create the tables of %s: %w", s.options.where(), firstLine(err))
	}
	s.log.InfoContext(ctx, "schema upgraded", "from", before.Version, "to", after.Version)
	return before, after, nil
}

func (s *Store) migrate(ctx context.Context) error {
	for _, want := range s.tables() {
		_, err := s.client.CreateTable(ctx, &want)
		if _, taken := errors.AsType[*types.ResourceInUseException](err); err != nil && !taken {
			return fmt.Errorf("create table %s: %w", *want.TableName, plain(err))
		}
		wait := dynamodb.NewTableExistsWaiter(s.client, func(w *dynamodb.TableExistsWaiterOptions) {
			w.MinDelay, w.MaxDelay = 100*time.Millisecond, 5*time.Second
		})
		if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: want.TableName}, tableWait); err != nil {
			return fmt.Errorf("wait for table %s: %w", *want.TableName, plain(err))
		}
	}
	if err := s.enableTTL(ctx); err != nil {
		return err
	}
	it := key(clusterPartition, schemaRecord)
	it[attrSchema], it[attrOldestSchema] = number(schemaVersion), number(oldestSchema)
	it.text(attrOldestProgram, oldestProgram)
	// A newer program may have written a newer version concurrently.
	_, _, err := s.put(ctx, s.options.Table, it, condition{
		nothingHere + " OR #schema < :newest", item{":newest": number(schemaVersion)},
	})
	return err
}

// enableTTL enables the TTL of the history table, if it is not enabled yet, because the service refuses to enable it
// twice.
func (s *Store) enableTTL(ctx context.Context) error {
	is, err := s.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &s.options.History})
	if err != nil {
		return fmt.Errorf("time to live of table %s: %w", s.options.History, plain(err))
	}
	switch is.TimeToLiveDescription.TimeToLiveStatus {
	case types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling:
		if by := aws.ToString(is.TimeToLiveDescription.AttributeName); by != attrTTL {
			return fmt.Errorf("table %s has a time to live by the attribute %s, and not by %s: "+
				"history would never be deleted, or too early",
				s.options.History, by, attrTTL)
		}
		return nil
	default:
	}
	_, err = s.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &s.options.History,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attrTTL), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("enable time to live of table %s: %w", s.options.History, plain(err))
	}
	return nil
}
