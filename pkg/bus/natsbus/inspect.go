package natsbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Inspect reads the state of the cluster's streams and buckets, and tries which of its topics this user may publish to.
// It creates nothing and stores nothing. Of Options it uses the connection settings, Name, Prefix and Logger. If the server
// cannot be reached, refuses the user, or has no JetStream, it returns an error.
//
// The right to publish is tried with a message that names a stream which does not exist
// (Nats-Expected-Stream), so that the server refuses it after it has checked the right.
func Inspect(ctx context.Context, opts Options) (bus.Inspection, error) {
	opts, err := complete(opts)
	if err != nil {
		return bus.Inspection{}, err
	}
	in := &inspector{opts: &opts, denied: map[string]func(){}}
	// One attempt: an operator waits for the answer.
	nc, err := nats.Connect(opts.URL, append(opts.onlooker(), nats.MaxReconnects(0), nats.ErrorHandler(in.refused))...)
	if err != nil {
		return bus.Inspection{}, fmt.Errorf("connect to NATS at %s: %w", opts.address(), unreachable(err))
	}
	defer nc.Close()
	in.nc = nc
	if in.js, err = jetstream.New(nc); err != nil {
		return bus.Inspection{}, fmt.Errorf("prepare NATS at %s: %w", opts.address(), err)
	}
	return in.run(ctx)
}

// inspector is one call of Inspect.
type inspector struct {
	opts *Options
	nc   *nats.Conn
	js   jetstream.JetStream

	mu     sync.Mutex
	denied map[string]func() // by subject: what to do if the server refuses a publication to it
	found  bus.Inspection
}

// refused is called with errors of the connection. The server reports a missing right there and not to the request.
func (in *inspector) refused(_ *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for subject, deny := range in.denied {
		if strings.Contains(err.Error(), strconv.Quote(subject)) {
			deny()
		}
	}
}

func (in *inspector) run(ctx context.Context) (bus.Inspection, error) {
	_, denied, err := request(ctx, in, "$JS.API.INFO", func(ctx context.Context) (*jetstream.AccountInfo, error) {
		return in.js.AccountInfo(ctx)
	})
	switch {
	case denied:
		return bus.Inspection{}, errors.New("the user may not publish to $JS.API.>: grant it")
	case unanswered(err), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return bus.Inspection{}, fmt.Errorf("JetStream is not responding: is it enabled on this server? %w", unreachable(err))
	case err != nil:
		return bus.Inspection{}, fmt.Errorf("state of JetStream at %s: %w", in.opts.address(), unreachable(err))
	}
	states := []bus.TopicState{}
	for _, topic := range bus.Topics() {
		if topic.Kind() != bus.KindHints { // hints have no stream
			states = append(states, bus.TopicState{Topic: topic, Name: in.opts.stream(topic)})
		}
	}
	for _, bucket := range []string{membersBucket, ownersBucket} {
		states = append(states, bus.TopicState{Name: "KV_" + in.opts.Prefix + "-" + bucket})
	}
	var group errgroup.Group
	for i := range states {
		group.Go(func() error {
			in.stream(ctx, &states[i])
			return nil
		})
	}
	_ = group.Wait() // there are no errors
	in.found.Topics = states
	return in.found, nil
}

func (in *inspector) stream(ctx context.Context, state *bus.TopicState) {
	stream, denied, err := request(ctx, in, "$JS.API.STREAM.INFO."+state.Name, func(ctx context.Context) (jetstream.Stream, error) {
		return in.js.Stream(ctx, state.Name)
	})
	switch {
	case denied:
		state.Denied = append(state.Denied, "read the state of the stream")
		return
	case errors.Is(err, jetstream.ErrStreamNotFound):
		state.Missing = true
		return
	case err != nil:
		state.Err = err
		return
	}
	info := stream.CachedInfo()
	in.clock(info.TimeStamp)
	state.Partitions, _ = strconv.Atoi(info.Config.Metadata[partitionsLabel]) // 0: no label
	state.Err = replicaError(info.Cluster)
	if state.Topic == "" {
		return
	}
	subject := in.opts.subject(state.Topic, 0)
	_, denied, err = request(ctx, in, subject, func(ctx context.Context) (*nats.Msg, error) {
		probe := nats.NewMsg(subject)
		probe.Header.Set(nats.ExpectedStreamHdr, "timerbus-none")
		return in.nc.RequestMsgWithContext(ctx, probe)
	})
	switch {
	case denied:
		state.Denied = append(state.Denied, "publish to "+subject)
	case err != nil && state.Err == nil:
		state.Err = fmt.Errorf("publish to %s: %w", subject, err)
	}
}

func (in *inspector) clock(at time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.found.Clock = at
}

// request makes a request that publishes to a subject, and reports whether the server denies that.
func request[T any](
	ctx context.Context, in *inspector, subject string, ask func(context.Context) (T, error),
) (answer T, denied bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, in.opts.AckTimeout)
	defer cancel()
	in.mu.Lock()
	in.denied[subject] = func() {
		denied = true
		cancel()
	}
	in.mu.Unlock()
	answer, err = ask(ctx)
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.denied, subject)
	return answer, denied, err
}

// replicaError returns why a replicated stream may stop working.
func replicaError(cluster *jetstream.ClusterInfo) error {
	if cluster == nil {
		return nil
	}
	if cluster.Leader == "" {
		return errors.New("it has no leader: a majority of its servers is down")
	}
	var late []string
	for _, r := range cluster.Replicas {
		if r.Offline || !r.Current {
			late = append(late, r.Name)
		}
	}
	if slices.Sort(late); len(late) > 0 {
		return fmt.Errorf("replicas are offline or behind: %s", strings.Join(late, ", "))
	}
	return nil
}
