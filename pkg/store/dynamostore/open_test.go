package dynamostore_test

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/store/dynamostore"
)

// wantLine fails unless the error is one line that contains all parts.
func wantLine(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it opens")
	}
	t.Log(err)
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than a line", err)
	}
}

// bare removes all AWS configuration that the SDK could find on this machine.
func bare(t *testing.T) {
	t.Helper()
	nowhere := t.TempDir()
	for name, value := range map[string]string{
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
		"AWS_SESSION_TOKEN": "", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": nowhere + "/config",
		"AWS_SHARED_CREDENTIALS_FILE": nowhere + "/credentials", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
	} {
		t.Setenv(name, value)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	on := theServer(t)
	if on.endpoint == "" {
		t.Skip("against AWS itself this would make tables of other kinds")
	}
	ctx := t.Context()
	bare(t)

	t.Run("no credentials", func(t *testing.T) {
		o := on.options("timers")
		o.Credentials = nil
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "dynamodb://timers", "no AWS credentials", "AWS_ACCESS_KEY_ID")
	})
	t.Run("no region", func(t *testing.T) {
		o := on.options("timers")
		o.Region = ""
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "no AWS region", "AWS_REGION")
	})
	t.Run("no table", func(t *testing.T) {
		_, err := dynamostore.Open(ctx, on.options("nothing-here"))
		wantLine(t, err, "dynamodb://nothing-here?region=eu-central-1", "no schema yet", "timerbus migrate up", "region")
	})
	t.Run("another region", func(t *testing.T) {
		o := on.database(t)
		o.Region = "us-east-1"
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "region=us-east-1", "no schema yet", "region")
	})
	t.Run("nobody there", func(t *testing.T) {
		o := on.options("timers")
		o.Endpoint, o.MaxAttempts = "http://127.0.0.1:1", 2
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "http://127.0.0.1:1", "cannot be reached", "refused")
	})
	t.Run("credentials nobody knows", func(t *testing.T) {
		o := on.options("timers")
		o.Credentials = credentials.NewStaticCredentialsProvider("", "", "")
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "no AWS credentials")
	})
	t.Run("other keys", func(t *testing.T) {
		name := on.freeName(t)
		on.create(t, name, "pk")
		_, err := dynamostore.Open(ctx, on.options(name))
		wantLine(t, err, "table "+name, "pk S", "shard_id N, sk S", "not a table of timerbus")
		_, _, err = dynamostore.Migrate(ctx, on.options(name))
		wantLine(t, err, "pk S", "not a table of timerbus")
	})
	t.Run("no index", func(t *testing.T) {
		o := on.database(t)
		o.Table, o.History = o.Table+"-history", o.Table // this table has the keys but not the index
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "no local index due", "cannot be added later")
	})
	t.Run("half a schema", func(t *testing.T) {
		o := on.database(t)
		history := o.Table + "-history"
		if _, err := on.client(t).DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &history}); err != nil {
			t.Fatal(err)
		}
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "not complete", "timerbus migrate up")
		if _, after, err := dynamostore.Migrate(ctx, o); err != nil || after.Usable() != nil {
			t.Errorf("migrate: %+v, %v", after, err)
		}
		open(t, o)
	})
	t.Run("another time to live", func(t *testing.T) {
		o := on.database(t)
		history := o.Table + "-history"
		tell := func(attribute string, enabled bool) {
			_, err := on.client(t).UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
				TableName:               &history,
				TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: &enabled},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		tell("ttl", false)
		tell("expires", true)
		_, _, err := dynamostore.Migrate(ctx, o)
		wantLine(t, err, "table "+history, "by the attribute expires", "not by ttl")
	})
	t.Run("a newer schema", func(t *testing.T) {
		o := on.database(t)
		on.note(t, o.Table, "9", "4")
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "version 9", "up to 3", "timerbus 9.1.0 or newer")
		_, _, err = dynamostore.Migrate(ctx, o)
		wantLine(t, err, "version 9")
		on.note(t, o.Table, "9", "3") // newer, but compatible with this program
		open(t, o)
	})
	t.Run("an older schema", func(t *testing.T) {
		o := on.database(t)
		on.note(t, o.Table, "1", "1")
		_, err := dynamostore.Open(ctx, o)
		wantLine(t, err, "version 1", "needs 3", "timerbus migrate up")
		if before, after, err := dynamostore.Migrate(ctx, o); err != nil || before.Version != 1 || after.Version != 3 || after.Oldest != 3 {
			t.Errorf("migrate: %+v, %+v, %v", before, after, err)
		}
		open(t, o)
	})
}

func TestMigrateAgain(t *testing.T) {
	on := theServer(t)
	o := on.options(on.freeName(t))
	o.Read, o.Write, o.Tags = 5, 6, map[string]string{"team": "billing"}
	tagged := 0
	hook(&o).on(func(operation, body string) fault {
		if operation == "CreateTable" && strings.Contains(body, `"Tags":[{"Key":"team","Value":"billing"}]`) {
			tagged++ // DynamoDB Local accepts tags but does not return them
		}
		return pass
	})
	status, err := dynamostore.Status(t.Context(), o)
	if err != nil || status.Version != 0 || status.Known != 3 {
		t.Fatalf("before: %+v, %v", status, err)
	}
	before, after, err := dynamostore.Migrate(t.Context(), o)
	if err != nil || before.Version != 0 || after.Version != 3 || after.Oldest != 3 {
		t.Fatalf("migrate: %+v, %+v, %v", before, after, err)
	}
	before, after, err = dynamostore.Migrate(t.Context(), o)
	if err != nil || before != after {
		t.Fatalf("again: %+v, %+v, %v", before, after, err)
	}
	client := on.client(t)
	for _, name := range []string{o.Table, o.Table + "-history"} {
		is, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if p := is.Table.ProvisionedThroughput; *p.ReadCapacityUnits != 5 || *p.WriteCapacityUnits != 6 {
			t.Errorf("table %s has %d read and %d write units, want 5 and 6", name, *p.ReadCapacityUnits, *p.WriteCapacityUnits)
		}
	}
	if tagged != 4 {
		t.Errorf("tables were asked for with their tags %d times, want 4", tagged)
	}
	history := o.Table + "-history"
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &history})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != "ttl" {
		t.Errorf("time to live: %+v, %v", ttl, err)
	}
}

func TestParseURL(t *testing.T) {
	for raw, want := range map[string]dynamostore.Options{
		"dynamodb://timers":                       {Table: "timers"},
		"dynamodb://my.timers_2?region=us-west-2": {Table: "my.timers_2", Region: "us-west-2"},
		"dynamodb://timers?region=local&endpoint=" + url.QueryEscape("http://127.0.0.1:8000"): {
			Table: "timers", Region: "local", Endpoint: "http://127.0.0.1:8000",
		},
		"dynamodb://timers?endpoint=http://127.0.0.1:8000&profile=dev&history=past&maxRequests=7": {
			Table: "timers", Endpoint: "http://127.0.0.1:8000", Profile: "dev", History: "past", MaxRequests: 7,
		},
		"dynamodb://timers?read=10&write=20&tag.team=billing": {
			Table: "timers", Read: 10, Write: 20, Tags: map[string]string{"team": "billing"},
		},
	} {
		if got, err := dynamostore.ParseURL(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads as %+v (%v), want %+v", raw, got, err, want)
		}
	}
	for raw, part := range map[string]string{
		"postgres://timers":                         "dynamodb://table",
		"dynamodb://":                               "dynamodb://table",
		"dynamodb://ab":                             "3 to 247",
		"dynamodb://timers/other":                   "dynamodb://table",
		"dynamodb://user:pw@timers":                 "dynamodb://table",
		"dynamodb://timers?regoin=x":                "regoin",
		"dynamodb://timers?region=a&region=b":       "region once",
		"dynamodb://timers?maxRequests=0":           "maxRequests",
		"dynamodb://timers?read=5":                  "read",
		"dynamodb://timers?endpoint=localhost:8000": "endpoint",
		"dynamodb://timers?history=timers":          "history",
		"dynamodb://timers?history=a/b":             "3 to 247",
	} {
		if got, err := dynamostore.ParseURL(raw); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s reads as %+v, error %v; want one that says %q", raw, got, err, part)
		}
	}
	if _, err := dynamostore.Open(t.Context(), dynamostore.Options{}); err == nil || errors.Is(err, t.Context().Err()) {
		t.Errorf("no table: %v", err)
	}
}

// create creates a table of another program.
func (s server) create(tb testing.TB, name, hash string) {
	tb.Helper()
	_, err := s.client(tb).CreateTable(tb.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &hash, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// note writes the schema record of another program: its schema version, and the oldest compatible one.
func (s server) note(tb testing.TB, table, version, oldest string) {
	tb.Helper()
	_, err := s.client(tb).PutItem(tb.Context(), &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
		"shard_id": &types.AttributeValueMemberN{Value: "-1"}, "sk": &types.AttributeValueMemberS{Value: "v#"},
		"schema": &types.AttributeValueMemberN{Value: version}, "oldest_schema": &types.AttributeValueMemberN{Value: oldest},
		"oldest_program": &types.AttributeValueMemberS{Value: "9.1.0"},
	}})
	if err != nil {
		tb.Fatal(err)
	}
}
