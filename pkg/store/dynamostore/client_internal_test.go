package dynamostore

import (
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// TestConnectionsAreLetGoBeforeTheServerDoes: DynamoDB Local closes unused connections after 30 s. A write on a
// connection that is being closed ends with EOF, and its outcome is unknown.
func TestConnectionsAreLetGoBeforeTheServerDoes(t *testing.T) {
	o, err := withDefaults(Options{Table: "timers"})
	if err != nil {
		t.Fatal(err)
	}
	client, ok := httpClient(&o).(*awshttp.BuildableClient)
	if !ok {
		t.Fatalf("the client is a %T", httpClient(&o))
	}
	if idle := client.GetTransport().IdleConnTimeout; idle <= 0 || idle > 25*time.Second {
		t.Errorf("idle connections are kept for %v, want less than the server's 30 s", idle)
	}
}
