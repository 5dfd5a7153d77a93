package natsbus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// partitionsLabel is the stream metadata that remembers the cluster's partition count.
const partitionsLabel = "timerbus-partitions"

// stream is one topic's stream.
type stream struct {
	name string
	// subject is a user's own topic's; empty for one of the six, whose stream is ours to make.
	subject string
	// queue is set for streams of the due queue, which have these fields as well.
	queue    bool
	number   int
	subjects string // all but the partition
	// consumed is set once a consumer has been seen. It stays set.
	consumed atomic.Bool
	// handle saves a request for each state.
	handle atomic.Pointer[jetstream.Stream]
	epochs
}

// info returns the stream's state and updates its epochs. It recreates one of our streams that is missing.
//
// A new leader of a replicated stream may reply before it has applied all committed entries, so info polls, within
// the time of one request, while the stream ends before the known last sequence.
func (b *Bus) info(ctx context.Context, s *stream) (*jetstream.StreamInfo, error) {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	before := s.mark()
	info, err := b.state(ctx, s)
	for err == nil && info.Config.Replicas > 1 && info.State.LastSeq < before.high && pause(ctx, 50*time.Millisecond) {
		var again *jetstream.StreamInfo
		if again, err = b.state(ctx, s); err == nil {
			info = again
		} else if ctx.Err() != nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if s.update(before, info.Created.UnixNano(), info.State.LastSeq, s.queue) {
		b.log.Warn("stream lost its newest messages", "stream", s.name, "last", info.State.LastSeq, "before", before.high)
	}
	return info, nil
}

func (b *Bus) state(ctx context.Context, s *stream) (*jetstream.StreamInfo, error) {
	info, err := b.request(ctx, s)
	if errors.Is(err, jetstream.ErrStreamNotFound) && s.subject != "" {
		b.foreign.forget(s)
		return nil, errNoTopic(s.subject)
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) && !(s.queue && b.queue.foreign(s)) {
		b.restore(ctx, s.name)
		info, err = b.request(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("state of stream %s: %w", s.name, err)
	}
	if s.queue {
		b.note(s, info)
	}
	return info, nil
}

// request asks the server for the state of a stream. If the due queue has several streams, the answer has the number of
// messages of each partition.
func (b *Bus) request(ctx context.Context, s *stream) (*jetstream.StreamInfo, error) {
	if !s.queue || len(b.queue.all()) == 1 {
		handle, err := b.js.Stream(ctx, s.name) // asks the server, so its answer is fresh
		if err != nil {
			return nil, err
		}
		return handle.CachedInfo(), nil
	}
	handle := s.handle.Load()
	if handle == nil {
		found, err := b.js.Stream(ctx, s.name)
		if err != nil {
			return nil, err
		}
		handle = &found
		s.handle.Store(handle)
	}
	return (*handle).Info(ctx, jetstream.WithSubjectFilter(s.subjects+"*"))
}

// brief bounds one question to the server. A question that was under way when the connection broke
// is never answered, and nobody should wait for that longer than for a lease.
func (b *Bus) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*b.opts.LeaseTTL)
}

// kept says how each stored topic is kept.
//
// Persistence is chosen per stream. On a server with sync_always, streams in the default mode are
// fsynced before each acknowledgement, and asynchronous ones are not: commands, fired and dead
// events exist nowhere else once acknowledged, while due events, results and ownership can be made
// again from the store.
func (b *Bus) kept(topic bus.Topic) jetstream.StreamConfig {
	o := &b.opts
	cfg := jetstream.StreamConfig{
		Name:        o.stream(topic),
		Description: "Timerbus topic " + string(topic),
		Subjects:    []string{o.Prefix + "." + string(topic) + ".*"},
		Storage:     jetstream.FileStorage,
		Replicas:    o.Replicas,
		Duplicates:  o.DedupeWindow,
		MaxAge:      o.LogMaxAge,
		MaxBytes:    o.LogMaxBytes,
		Discard:     jetstream.DiscardOld,
		Retention:   jetstream.LimitsPolicy,
		Metadata:    map[string]string{partitionsLabel: strconv.Itoa(o.Partitions)},
	}
	switch topic {
	case bus.Commands:
		// Commands are kept until they are applied; then trim removes them.
		cfg.MaxBytes, cfg.MaxAge, cfg.Discard = o.CommandsMaxBytes, 0, jetstream.DiscardNew
		cfg.Metadata[commandsLabel] = commandsKept
		// Each subject by name: a foreign publisher's wrong partition is refused at once instead
		// of kept where nobody reads.
		cfg.Subjects = nil
		for p := range o.Partitions {
			cfg.Subjects = append(cfg.Subjects, o.subjects(topic, shard.Partition(p))...)
		}
	case bus.Due:
		// A work queue drops a message when it is acknowledged: the disk holds the backlog only,
		// and the stream's own first sequence is the floor, right after a purge as well.
		cfg.Retention = jetstream.WorkQueuePolicy
		cfg.Discard = jetstream.DiscardNew
		cfg.MaxAge, cfg.MaxBytes = o.QueueMaxAge, o.queueShare()
		cfg.Metadata[streamsLabel] = strconv.Itoa(o.QueueStreams)
		cfg.PersistMode = b.asyncMode()
	case bus.Results:
		cfg.PersistMode = b.asyncMode()
	default:
	}
	if cfg.MaxAge > 0 {
		cfg.Duplicates = min(cfg.Duplicates, cfg.MaxAge)
	}
	return cfg
}

// asyncMode is the mode for what may be lost with the machine's power. Replicated streams are
// flushed by the replication log and refuse it.
func (b *Bus) asyncMode() jetstream.PersistModeType {
	if b.opts.Replicas > 1 {
		return jetstream.DefaultPersistMode
	}
	return jetstream.AsyncPersistMode
}

// bucket is a key-value bucket's stream. It is made here and not by the client's own call, because
// reads must be answered by the leader (no AllowDirect): a follower that lags would report a live
// member as gone.
func (b *Bus) bucket(name string, ttl time.Duration) jetstream.StreamConfig {
	cfg := jetstream.StreamConfig{
		Name:              "KV_" + name,
		Subjects:          []string{"$KV." + name + ".>"},
		Storage:           jetstream.FileStorage,
		Replicas:          b.opts.Replicas,
		MaxMsgsPerSubject: 1,
		MaxBytes:          bucketMaxBytes,
		MaxAge:            ttl,
		Discard:           jetstream.DiscardNew,
		AllowRollup:       true,
		DenyDelete:        true,
		Duplicates:        2 * time.Minute,
		PersistMode:       b.asyncMode(),
		Metadata:          map[string]string{partitionsLabel: strconv.Itoa(b.opts.Partitions)},
	}
	if ttl > 0 {
		cfg.Duplicates = ttl
		cfg.AllowMsgTTL = true
		cfg.SubjectDeleteMarkerTTL = time.Minute // long enough for a watcher that reconnects
	}
	return cfg
}

// ensure makes what is missing on the server, checks what is there, and binds to it.
func (b *Bus) ensure(ctx context.Context) error {
	if _, err := b.ensureAll(ctx); err != nil {
		return err
	}
	asking, asked := errgroup.WithContext(ctx)
	for _, topic := range bus.Topics() {
		if topic.Kind() == bus.KindLog {
			b.streams[topic] = &stream{name: b.kept(topic).Name}
		}
	}
	for _, s := range slices.AppendSeq(b.queue.all(), maps.Values(b.streams)) {
		asking.Go(func() error {
			return settled(asked, func(ctx context.Context) error {
				_, err := b.info(ctx, s)
				return err
			})
		})
	}
	err := asking.Wait()
	if err != nil {
		return err
	}
	if b.members, err = b.bind(ctx, b.opts.Prefix+"-"+membersBucket); err != nil {
		return err
	}
	b.owners, err = b.bind(ctx, b.opts.Prefix+"-"+ownersBucket)
	return err
}

// settled asks again while what was just made is not there for everybody: in a cluster, and above all when several
// processes make it at once, the answer may come from a server that has not heard of it.
func settled(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ensurePatience)
	defer cancel()
	for {
		err := ask(ctx)
		missing := errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound)
		if err == nil || !missing && !passing(err) || !pause(ctx, 50*time.Millisecond) {
			return err
		}
	}
}

func (b *Bus) bind(ctx context.Context, name string) (kv jetstream.KeyValue, err error) {
	err = settled(ctx, func(ctx context.Context) error {
		ctx, cancel := b.brief(ctx)
		defer cancel()
		kv, err = b.js.KeyValue(ctx, name)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			b.restore(ctx, "KV_"+name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bind bucket %s: %w", name, err)
	}
	return kv, nil
}

// ensureAll makes streams and buckets that are missing, and returns those that it has made. It asks for all at once,
// because on a cluster each new stream waits for an election.
func (b *Bus) ensureAll(ctx context.Context) ([]string, error) {
	all := []jetstream.StreamConfig{
		b.bucket(b.opts.Prefix+"-"+membersBucket, b.opts.LeaseTTL),
		b.bucket(b.opts.Prefix+"-"+ownersBucket, 0),
	}
	for _, topic := range bus.Topics() {
		if topic.Kind() != bus.KindHints {
			all = append(all, b.kept(topic))
		}
	}
	var made madeStreams
	// An error does not cancel the other requests, because the server could create their streams all the same.
	var group errgroup.Group
	for _, cfg := range all {
		group.Go(func() error { return b.ensureStream(ctx, cfg, &made) })
	}
	err := group.Wait()
	if err == nil {
		err = b.ensureQueue(ctx, &made)
	}
	if noRoom(err) {
		b.deleteMade(ctx, made.names)
		return nil, b.sizesError(err)
	}
	return made.names, err
}

// restore makes streams and buckets again that somebody has deleted, as Connect would. What they held is
// lost, but due timers come again from the store, and without streams nothing goes on. Whoever called finds
// out by asking again.
func (b *Bus) restore(ctx context.Context, missed string) {
	b.restoring.Lock()
	defer b.restoring.Unlock()
	if _, err := b.js.Stream(ctx, missed); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return // somebody has, meanwhile; or nobody can tell
	}
	b.log.Error("a stream is gone, and is made again", "stream", missed)
	// If the caller loses its lease now, the streams and buckets must still be made and announced.
	ctx, cancel := b.brief(context.WithoutCancel(ctx))
	defer cancel()
	made, err := b.ensureAll(ctx)
	if err != nil {
		b.log.Warn("streams not made again", "error", err)
		if len(made) == 0 {
			return
		}
	}
	b.link.change() // what reads or watches the old ones would find out in its own time, which is long
}

const membersBucket, ownersBucket = "members", "owners"

// restoreBucket is restore for who had no answer from a bucket. ctx bounds what it takes.
func (b *Bus) restoreBucket(ctx context.Context, which string) {
	if !b.nc.IsConnected() {
		return
	}
	ctx, cancel := b.brief(ctx)
	defer cancel()
	b.restore(ctx, "KV_"+b.opts.Prefix+"-"+which)
}

// ensurePatience bounds how long one stream may take to be there.
const ensurePatience = 30 * time.Second

// ensureStream asks again where a cluster has no answer yet: while it elects a leader, or when several
// processes want the same stream at once, some questions are left without one.
func (b *Bus) ensureStream(ctx context.Context, cfg jetstream.StreamConfig, made *madeStreams) error {
	return retry(ctx, func(ctx context.Context) error { return b.tryStream(ctx, cfg, made) })
}

// retry repeats try while it fails for a reason that may pass, for ensurePatience at most.
func retry(ctx context.Context, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ensurePatience)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil || !passing(err) || !pause(ctx, 100*time.Millisecond) {
			return err
		}
	}
}

// passing reports whether an error is one that the same question may not get again.
func passing(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.As(err, &api) && api.Code == http.StatusServiceUnavailable && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled &&
			api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
}

func (b *Bus) tryStream(ctx context.Context, cfg jetstream.StreamConfig, made *madeStreams) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	found, err := b.js.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if found, err = b.js.CreateStream(ctx, cfg); err == nil {
			made.add(cfg.Name)
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster
			found, err = b.js.Stream(ctx, cfg.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("make stream %s: %w", cfg.Name, err)
	}
	if has := found.CachedInfo().Config.Metadata[partitionsLabel]; has != strconv.Itoa(b.opts.Partitions) {
		return fmt.Errorf("stream %s was made for %q partitions, this process is set to %d: the count is fixed for the cluster's life",
			cfg.Name, has, b.opts.Partitions)
	}
	return b.adjust(ctx, found.CachedInfo().Config)
}
