package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Inspect reads the state of the cluster's topics and groups, and which rights this user has on them. It creates and
// writes nothing. Of Options it uses the connection settings, Name, Prefix and Logger. If no broker can be reached, or the
// brokers refuse the user, it returns an error. Brokers do not show their clock.
func Inspect(ctx context.Context, opts Options) (bus.Inspection, error) {
	opts, err := complete(opts)
	if err != nil {
		return bus.Inspection{}, err
	}
	client, err := opts.client()
	if err != nil {
		return bus.Inspection{}, err
	}
	defer client.Close()
	if err := opts.ping(ctx, client); err != nil {
		return bus.Inspection{}, err
	}
	ctx = kadm.WithAuthorizedOps(ctx)
	admin := kadm.NewClient(client)
	topics, err := opts.inspectTopics(ctx, admin)
	if err != nil {
		return bus.Inspection{}, err
	}
	groups, err := opts.inspectGroups(ctx, admin)
	return bus.Inspection{Topics: append(topics, groups...), MorePartitions: true}, err
}

func (o *Options) inspectTopics(ctx context.Context, admin *kadm.Client) ([]bus.TopicState, error) {
	states := []bus.TopicState{{Name: o.registry()}}
	for _, t := range bus.Topics() {
		states = append(states, bus.TopicState{Topic: t, Name: o.topic(t)})
	}
	for i := range states {
		s := &states[i]
		// One topic for each request: kadm returns no answer for any if the user may not see one of them.
		details, err := admin.ListTopics(ctx, s.Name)
		d := details[s.Name]
		switch {
		case errors.Is(err, kerr.TopicAuthorizationFailed):
			s.Denied = []string{"DESCRIBE", "READ", "WRITE"}
			continue
		case err != nil:
			return nil, fmt.Errorf("describe topic %s: %w", s.Name, err)
		case errors.Is(d.Err, kerr.UnknownTopicOrPartition) || d.Topic == "":
			s.Missing = true
			continue
		case d.Err != nil:
			s.Err = d.Err
			continue
		}
		s.Denied = lacks(d.AuthorizedOperations, kadm.OpRead, kadm.OpWrite)
		s.Err = replicaError(d.Partitions)
		if s.Topic != "" {
			s.Partitions = len(d.Partitions)
		}
	}
	return states, nil
}

// inspectGroups reads the rights on the consumer groups. An unused group is not missing.
func (o *Options) inspectGroups(ctx context.Context, admin *kadm.Client) ([]bus.TopicState, error) {
	var states []bus.TopicState
	for _, id := range []string{
		o.groupID(bus.Commands, bus.GroupIngest), o.groupID(bus.Shards, bus.GroupSchedulers), o.groupID(bus.Due, bus.GroupDispatchers),
	} {
		var described kadm.DescribedGroups
		// Brokers that have never had a group answer that there is no coordinator yet.
		err := retryTransient(ctx, connectRetryFor, func(ctx context.Context) (err error) {
			described, err = admin.DescribeGroups(ctx, id)
			return err
		})
		s, d := bus.TopicState{Name: id}, described[id]
		switch {
		case errors.Is(err, kerr.GroupAuthorizationFailed):
			s.Denied = []string{"DESCRIBE", "READ"}
		case err != nil:
			return nil, fmt.Errorf("describe group %s: %w", id, err)
		case errors.Is(d.Err, kerr.GroupIDNotFound):
		case d.Err != nil:
			s.Err = d.Err
		default:
			s.Denied = lacks(d.AuthorizedOperations, kadm.OpRead)
		}
		states = append(states, s)
	}
	return states, nil
}

// lacks returns the operations that are needed and not in has. has is empty if the brokers do not report operations.
func lacks(has []kadm.ACLOperation, needed ...kadm.ACLOperation) (lacking []string) {
	for _, op := range needed {
		if len(has) > 0 && !slices.Contains(has, op) && !slices.Contains(has, kadm.OpAll) {
			lacking = append(lacking, op.String())
		}
	}
	return lacking
}

// replicaError returns which partitions do not work, or may stop working.
func replicaError(partitions kadm.PartitionDetails) error {
	var leaderless, behind []string
	for _, p := range partitions.Sorted() {
		switch {
		case p.Leader < 0:
			leaderless = append(leaderless, fmt.Sprint(p.Partition))
		case len(p.ISR) < len(p.Replicas):
			behind = append(behind, fmt.Sprint(p.Partition))
		}
	}
	switch {
	case len(leaderless) > 0:
		return fmt.Errorf("partitions without a leader: %s", strings.Join(leaderless, ", "))
	case len(behind) > 0:
		return fmt.Errorf("partitions with replicas that are offline or behind: %s", strings.Join(behind, ", "))
	}
	return nil
}
