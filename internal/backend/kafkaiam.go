package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

// awsCredentials returns a function that returns the present credentials of the SDK's default chain: the environment, the shared
// files, or the role of the container or the machine. The SDK renews them before they expire.
func awsCredentials(ctx context.Context) (func(context.Context) (kafkabus.AWSCredentials, error), error) {
	const want = "give this process a role, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	found, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if found.Credentials == nil {
		return nil, errors.New("no AWS credentials: " + want)
	}
	retrieve := func(ctx context.Context) (kafkabus.AWSCredentials, error) {
		got, err := found.Credentials.Retrieve(ctx)
		if err != nil {
			return kafkabus.AWSCredentials{}, fmt.Errorf("no AWS credentials: %s: %w", want, err)
		}
		return kafkabus.AWSCredentials{
			AccessKeyID: got.AccessKeyID, SecretAccessKey: got.SecretAccessKey, SessionToken: got.SessionToken,
		}, nil
	}
	_, err = retrieve(ctx)
	return retrieve, err
}
