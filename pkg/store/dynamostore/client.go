package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// connect returns the client. It loads region and credentials, and sends no request to DynamoDB.
func connect(ctx context.Context, o *Options) (*dynamodb.Client, error) {
	load := []func(*config.LoadOptions) error{config.WithHTTPClient(httpClient(o))}
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Credentials != nil {
		load = append(load, config.WithCredentialsProvider(o.Credentials))
	}
	found, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if found.Region == "" {
		return nil, errors.New("no AWS region: add ?region=eu-central-1 to the table's name, or set AWS_REGION")
	}
	o.Region = found.Region
	if found.Credentials == nil {
		return nil, noCredentials(nil)
	}
	if _, err := found.Credentials.Retrieve(ctx); err != nil {
		return nil, noCredentials(err)
	}
	return dynamodb.NewFromConfig(found, func(d *dynamodb.Options) {
		if o.HTTPClient != nil {
			d.HTTPClient = o.HTTPClient
		}
		if o.Endpoint != "" {
			d.BaseEndpoint = &o.Endpoint
			// DynamoDB Local sends no checksum, which the SDK would treat as a wrong one.
			d.DisableValidateResponseChecksum = true
		}
		d.Retryer = readRetries(o)
		d.Logger = logging.LoggerFunc(func(class logging.Classification, format string, v ...any) {
			o.Logger.Debug("SDK message", "class", string(class), "text", fmt.Sprintf(format, v...))
		})
	}), nil
}

func noCredentials(err error) error {
	const what = "no AWS credentials: give this process a role, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" +
		" (DynamoDB Local accepts any)"
	if err == nil {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %w", what, firstLine(err))
}

// idleConnection is below the 30 s after which DynamoDB Local closes an unused connection, and below the service's
// timeout. A write on a connection that the server is closing would have an unknown outcome.
const idleConnection = 20 * time.Second

// httpClient returns a client that keeps a connection for every concurrent request. The SDK's default is 10.
func httpClient(o *Options) aws.HTTPClient {
	return awshttp.NewBuildableClient().WithTimeout(o.RequestTimeout).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = o.MaxRequests
		t.MaxIdleConns = o.MaxRequests
		t.IdleConnTimeout = idleConnection
	})
}

// pause waits with the SDK's backoff.
func (s *Store) pause(ctx context.Context, attempt int) error {
	delay, err := retry.NewExponentialJitterBackoff(maxBackoff).BackoffDelay(attempt, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if !timer.Sleep(ctx, delay) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	}
	return nil
}
