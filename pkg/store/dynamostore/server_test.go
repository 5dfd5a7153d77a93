package dynamostore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
)

// TestMain removes settings that the SDK would read for each of a thousand clients and that no test needs: loading the
// trusted certificates takes 30 ms per client under the race detector.
func TestMain(m *testing.M) {
	if os.Getenv("TIMERBUS_TEST_DYNAMODB") != "aws" {
		if err := os.Unsetenv("AWS_CA_BUNDLE"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// server is a DynamoDB on which tests create tables. If TIMERBUS_TEST_DYNAMODB has an endpoint, which tools/testenv
// sets, it is DynamoDB Local. "aws" means the real service, with region and credentials as the SDK finds them.
type server struct {
	endpoint    string
	region      string
	credentials aws.CredentialsProvider
}

func theServer(tb testing.TB) server {
	tb.Helper()
	address := testserver.Address(tb, "dynamodb")
	if address == "aws" {
		return server{}
	}
	return server{address, "eu-central-1", credentials.NewStaticCredentialsProvider("test", "test", "")}
}

func (s server) options(table string) dynamostore.Options {
	return dynamostore.Options{
		Table: table, Region: s.region, Endpoint: s.endpoint, Credentials: s.credentials, MaxRequests: 16,
		// A late answer of a busy machine must not become an unknown outcome.
		RequestTimeout: time.Minute,
	}
}

// client returns a client of the server, independent of the engine.
func (s server) client(tb testing.TB) *dynamodb.Client {
	tb.Helper()
	var load []func(*config.LoadOptions) error
	if s.endpoint != "" {
		load = append(load, config.WithRegion(s.region), config.WithCredentialsProvider(s.credentials))
	}
	found, err := config.LoadDefaultConfig(tb.Context(), load...)
	if err != nil {
		tb.Fatal(err)
	}
	return dynamodb.NewFromConfig(found, func(o *dynamodb.Options) {
		if s.endpoint != "" {
			o.BaseEndpoint = &s.endpoint
			o.DisableValidateResponseChecksum = true
		}
	})
}

// freeName returns the name of a table that is deleted at the end of the test, together with its history.
func (s server) freeName(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("timerbus-test-%d", rand.Uint64())
	client := s.client(tb)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), time.Minute)
		defer cancel()
		for _, table := range []string{name, name + "-history"} {
			// The test may not have created the table.
			_, _ = client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table})
		}
	})
	return name
}

// database creates the tables.
func (s server) database(tb testing.TB) dynamostore.Options {
	tb.Helper()
	o := s.options(s.freeName(tb))
	if _, _, err := dynamostore.Migrate(tb.Context(), o); err != nil {
		tb.Fatal(err)
	}
	return o
}

func open(tb testing.TB, o dynamostore.Options) *dynamostore.Store {
	tb.Helper()
	s, err := dynamostore.Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}
