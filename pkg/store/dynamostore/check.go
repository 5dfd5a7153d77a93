package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// describe returns the description of a table, or nil if there is none.
func (s *Store) describe(ctx context.Context, name string) (*types.TableDescription, error) {
	out, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return nil, nil //nolint:nilnil // a missing table is a valid answer
	}
	if err != nil {
		return nil, s.explain(err)
	}
	return out.Table, nil
}

// explain adds to an error at the start what an operator can do about it.
func (s *Store) explain(err error) error {
	api, told := errors.AsType[smithy.APIError](err)
	if unsent(err) {
		at := "DynamoDB in region " + s.options.Region
		if s.options.Endpoint != "" {
			at = s.options.Endpoint
		}
		return fmt.Errorf("%s cannot be reached, look at region and endpoint: %w", at, cause(err))
	}
	if !told {
		return err
	}
	switch api.ErrorCode() {
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "InvalidClientTokenId":
		return fmt.Errorf("AWS does not accept the credentials: %w", plain(err))
	case "AccessDeniedException":
		return fmt.Errorf("these credentials lack rights, see docs/dynamodb.md: %w", plain(err))
	default:
		return plain(err)
	}
}

// cause returns the innermost error.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// compare returns an error if a table's schema is not the wanted one.
func compare(is *types.TableDescription, want *dynamodb.CreateTableInput) error {
	name := aws.ToString(is.TableName)
	if is.TableStatus == types.TableStatusCreating || is.TableStatus == types.TableStatusDeleting {
		return fmt.Errorf("table %s is %s: wait until that is done", name, strings.ToLower(string(is.TableStatus)))
	}
	if found, wanted := keysOf(is.KeySchema, is.AttributeDefinitions), keysOf(want.KeySchema, want.AttributeDefinitions); found != wanted {
		return fmt.Errorf("table %s has the keys %s, not %s: it is not a table of timerbus", name, found, wanted)
	}
	for _, index := range want.LocalSecondaryIndexes {
		at := slices.IndexFunc(is.LocalSecondaryIndexes, func(i types.LocalSecondaryIndexDescription) bool {
			return aws.ToString(i.IndexName) == *index.IndexName
		})
		if at < 0 {
			return fmt.Errorf("table %s has no local index %s, and one cannot be added later: use another table", name, *index.IndexName)
		}
		there := is.LocalSecondaryIndexes[at]
		found, wanted := keysOf(there.KeySchema, is.AttributeDefinitions), keysOf(index.KeySchema, want.AttributeDefinitions)
		if found != wanted {
			return fmt.Errorf("index %s of table %s has the keys %s, not %s", *index.IndexName, name, found, wanted)
		}
		if there.Projection == nil || there.Projection.ProjectionType == types.ProjectionTypeAll {
			continue
		}
		for _, attribute := range index.Projection.NonKeyAttributes {
			// The index of an existing table cannot be changed. An index without targets returns 0 for them.
			if attribute != attrTarget && !slices.Contains(there.Projection.NonKeyAttributes, attribute) {
				return fmt.Errorf("index %s of table %s does not contain %s: use another table", *index.IndexName, name, attribute)
			}
		}
	}
	return nil
}

// keysOf describes keys for comparison and for messages: "shard_id N, sk S".
func keysOf(keys []types.KeySchemaElement, definitions []types.AttributeDefinition) string {
	parts := make([]string, 0, len(keys))
	for _, k := range keys {
		kind := "?"
		for _, d := range definitions {
			if aws.ToString(d.AttributeName) == aws.ToString(k.AttributeName) {
				kind = string(d.AttributeType)
			}
		}
		parts = append(parts, aws.ToString(k.AttributeName)+" "+kind)
	}
	return strings.Join(parts, ", ")
}
