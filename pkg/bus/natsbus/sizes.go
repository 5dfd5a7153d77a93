package natsbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// bucketMaxBytes is far above the size of leases and owner records. Some accounts reject streams without a limit.
const bucketMaxBytes = 16 << 20

// stream returns the name of a topic's stream.
func (o *Options) stream(topic bus.Topic) string { return o.Prefix + "-" + string(topic) }

// sizes returns the sizes of the streams in bytes, by name.
func (o *Options) sizes() map[string]int64 {
	all := map[string]int64{o.stream(bus.Commands): o.CommandsMaxBytes}
	for k := range o.QueueStreams {
		all[o.queueStream(k)] = o.queueShare()
	}
	for _, topic := range []bus.Topic{bus.Fired, bus.Results, bus.Dead} {
		all[o.stream(topic)] = o.LogMaxBytes
	}
	return all
}

// queueShare is the size of each stream of the due queue.
func (o *Options) queueShare() int64 { return o.QueueMaxBytes / int64(o.QueueStreams) }

// adjust applies the explicit sizes of this process to an existing stream, and the limits of commandsKept to the stream of
// commands. It allows atomic batches, which earlier releases did not.
func (b *Bus) adjust(ctx context.Context, found jetstream.StreamConfig) error {
	want := found
	if given := b.opts.given[found.Name]; given != 0 {
		want.MaxBytes = given
	}
	for _, topic := range bus.Topics() {
		if inBatches(topic) && found.Name == b.opts.stream(topic) {
			want.AllowAtomicPublish = true
		}
	}
	if found.Name == b.opts.stream(bus.Commands) {
		keepCommands(&want)
		b.warnOfLoss(&want)
	}
	if want.MaxBytes == found.MaxBytes && want.Metadata[commandsLabel] == found.Metadata[commandsLabel] &&
		want.AllowAtomicPublish == found.AllowAtomicPublish {
		return nil
	}
	b.log.Info("settings of a stream changed", "stream", found.Name, "allow_atomic", want.AllowAtomicPublish,
		"max_bytes", want.MaxBytes, "max_age", want.MaxAge, "discard", want.Discard, "max_bytes_before", found.MaxBytes,
		"max_age_before", found.MaxAge, "discard_before", found.Discard)
	if _, err := b.js.UpdateStream(ctx, want); err != nil {
		return fmt.Errorf("change stream %s: %w", found.Name, err)
	}
	return nil
}

// The server's errors for a stream that does not fit: resource limits of the account, no suitable peers, insufficient
// resources, insufficient storage, and the account's limit for one stream.
var noRoomCodes = []jetstream.ErrorCode{10002, 10005, 10023, 10047, 10122}

func noRoom(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && slices.Contains(noRoomCodes, api.ErrorCode)
}

// madeStreams are the streams that one call has created.
type madeStreams struct {
	mu    sync.Mutex
	names []string
}

func (m *madeStreams) add(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names = append(m.names, name)
}

// deleteMade deletes the streams that were created before one did not fit: they reserve room that streams of smaller
// sizes need.
func (b *Bus) deleteMade(ctx context.Context, names []string) {
	ctx, cancel := context.WithTimeout(ctx, ensurePatience)
	defer cancel()
	for _, name := range names {
		if err := b.js.DeleteStream(ctx, name); err != nil {
			b.log.Warn("stream not deleted", "stream", name, "error", err)
		}
	}
}

// sizesError names the settings that change the sizes.
func (b *Bus) sizesError(err error) error {
	o := &b.opts
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	return fmt.Errorf("%w: the server has no room for streams of %s of commands, %s of due events and 3 times %s of other events, "+
		"each in %d copies: set commands-size, due-size and events-size in the bus URL, or raise the limit of the account or the server",
		err, size(o.CommandsMaxBytes), size(o.QueueMaxBytes), size(o.LogMaxBytes), o.Replicas)
}
