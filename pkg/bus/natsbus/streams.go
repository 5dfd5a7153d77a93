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
	"github.com/timerbus/timerbus/pkg/timer"
)

// partitionsLabel is the stream metadata with the cluster's partition count.
const partitionsLabel = "timerbus-partitions"

type stream struct {
	name string
	// subject is the subject of a user topic; empty for the streams that Timerbus creates.
	subject string
	// queue is true for streams of the due queue, which also have these fields.
	queue    bool
	number   int
	subjects string // all but the partition
	// consumed is set once a consumer was found, and is never cleared.
	consumed atomic.Bool
	// handle saves a request for each state.
	handle atomic.Pointer[jetstream.Stream]
	epochs
}

// info returns the stream's state and updates its epochs. It recreates a missing stream, unless it belongs to a user
// topic or to another process's QueueStreams.
//
// A new leader of a replicated stream may reply before it has applied all committed entries, so info polls, within
// the time of one request, while the stream ends before the known last sequence.
func (b *Bus) info(ctx context.Context, s *stream) (*jetstream.StreamInfo, error) {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	before := s.mark()
	info, err := b.state(ctx, s)
	for err == nil && info.Config.Replicas > 1 && info.State.LastSeq < before.high && timer.Sleep(ctx, 50*time.Millisecond) {
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

// request requests the state of a stream from the server. If the due queue has several streams, the reply has the
// number of messages of each partition.
func (b *Bus) request(ctx context.Context, s *stream) (*jetstream.StreamInfo, error) {
	if !s.queue || len(b.queue.all()) == 1 {
		handle, err := b.js.Stream(ctx, s.name) // sends a request, so the state is fresh
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

// brief bounds one request. A request that was pending when the connection broke gets no reply, and a caller should
// not wait for it much longer than for a lease.
func (b *Bus) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*b.opts.LeaseTTL)
}

// kept returns the retention of each stored topic.
//
// The persist mode is chosen per stream. On a server with sync_always, streams in the default mode are fsynced before
// each acknowledgement, and asynchronous ones are not. Commands, fired and dead events exist only on the bus once
// they are acknowledged. Due events, results and ownership can be restored from the store.
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

		AllowAtomicPublish: inBatches(topic),
	}
	switch topic {
	case bus.Commands:
		// Commands are kept until they are applied; then trim removes them.
		cfg.MaxBytes, cfg.MaxAge, cfg.Discard = o.CommandsMaxBytes, 0, jetstream.DiscardNew
		cfg.Metadata[commandsLabel] = commandsKept
		// Each subject is listed: the server rejects a foreign publisher's wrong partition immediately, instead of
		// storing messages that no consumer reads.
		cfg.Subjects = nil
		for p := range o.Partitions {
			cfg.Subjects = append(cfg.Subjects, o.subjects(topic, shard.Partition(p))...)
		}
	case bus.Due:
		// A work queue removes a message when it is acknowledged, so the disk stores only the backlog.
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

// asyncMode is the persist mode of streams whose messages may be lost in a power failure. Replicated streams are
// flushed by the replication log and reject this mode.
func (b *Bus) asyncMode() jetstream.PersistModeType {
	if b.opts.Replicas > 1 {
		return jetstream.DefaultPersistMode
	}
	return jetstream.AsyncPersistMode
}

// bucket returns the configuration of a key-value bucket's stream. The client's call for creating buckets is not
// used, because the leader must answer reads (no AllowDirect): a lagging follower would report a live member as gone.
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

// ensure creates missing streams and buckets on the server, checks existing ones, and binds to them.
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

// settled retries ask while a stream or bucket that was just created is not visible on every server: in a cluster,
// above all when several processes create it at the same time, a server that does not know it yet may reply.
func settled(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ensurePatience)
	defer cancel()
	for {
		err := ask(ctx)
		missing := errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound)
		if err == nil || !missing && !passing(err) || !timer.Sleep(ctx, 50*time.Millisecond) {
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

// ensureAll creates missing streams and buckets, and returns the names of those that it has created. It sends the
// requests concurrently, because on a cluster each new stream waits for an election.
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
	// An error does not cancel the other requests, because the server could create their streams nevertheless.
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

// restore creates deleted streams and buckets again, like Connect. Their messages are lost, but due timers are
// published again from the store, and without streams nothing works. The caller learns the result by repeating its
// request.
func (b *Bus) restore(ctx context.Context, missed string) {
	b.restoring.Lock()
	defer b.restoring.Unlock()
	if _, err := b.js.Stream(ctx, missed); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return // another goroutine or process has created it, or the server does not respond
	}
	b.log.Error("stream missing, creating it again", "stream", missed)
	// If the caller loses its lease now, the streams and buckets must still be created and link must be signalled.
	ctx, cancel := b.brief(context.WithoutCancel(ctx))
	defer cancel()
	made, err := b.ensureAll(ctx)
	if err != nil {
		b.log.Warn("creating missing streams failed", "error", err)
		if len(made) == 0 {
			return
		}
	}
	b.link.change() // readers and watchers of the old streams would notice their loss only much later
}

const membersBucket, ownersBucket = "members", "owners"

// restoreBucket calls restore for a bucket that did not respond. ctx bounds the call.
func (b *Bus) restoreBucket(ctx context.Context, which string) {
	if !b.nc.IsConnected() {
		return
	}
	ctx, cancel := b.brief(ctx)
	defer cancel()
	b.restore(ctx, "KV_"+b.opts.Prefix+"-"+which)
}

// ensurePatience bounds how long the creation of one stream may take.
const ensurePatience = 30 * time.Second

// ensureStream creates a missing stream. It retries while a cluster does not reply: during an election, or when
// several processes create the same stream at the same time, some requests get no reply.
func (b *Bus) ensureStream(ctx context.Context, cfg jetstream.StreamConfig, made *madeStreams) error {
	return retry(ctx, func(ctx context.Context) error { return b.tryStream(ctx, cfg, made) })
}

// retry repeats try while it fails with a transient error, for at most ensurePatience.
func retry(ctx context.Context, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ensurePatience)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil || !passing(err) || !timer.Sleep(ctx, 100*time.Millisecond) {
			return err
		}
	}
}

// passing reports whether an error is transient.
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
		return fmt.Errorf("create stream %s: %w", cfg.Name, err)
	}
	if has := found.CachedInfo().Config.Metadata[partitionsLabel]; has != strconv.Itoa(b.opts.Partitions) {
		return fmt.Errorf("stream %s was made for %q partitions, this process is set to %d: the count is fixed for the cluster's life",
			cfg.Name, has, b.opts.Partitions)
	}
	return b.adjust(ctx, found.CachedInfo().Config)
}
