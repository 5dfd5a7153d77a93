package natsbus

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// A user topic is the subject with its name, which a stream of the user captures. It has one partition: the stream
// has one order, and there is no common convention for partitions of a subject.

// ownName matches subjects that every client can name: no wildcard, no empty word, and none of the server's subjects
// ($JS, $KV, _INBOX).
var ownName = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

// maxOwnName is below the server's limit for stream names, so that ownStream can append a checksum.
const maxOwnName = 200

// checkOwn returns an error if the name of a user topic is invalid.
func (o *Options) checkOwn(topic bus.Topic) error {
	name, own := topic.OwnName()
	switch {
	case !own:
		return nil
	case len(name) > maxOwnName || !ownName.MatchString(name):
		return fmt.Errorf("topic %.100q: %w: want a NATS subject of words of letters, digits, - and _ separated by dots, "+
			"at most %d bytes, not beginning with _", name, bus.ErrUnsupported, maxOwnName)
	case strings.HasPrefix(name, o.Prefix+"."):
		return fmt.Errorf("topic %q: %w: subjects that begin with %q are reserved for Timerbus", name, bus.ErrUnsupported, o.Prefix+".")
	default:
		return nil
	}
}

// errNoTopic returns the error for a subject that no stream captures.
func errNoTopic(subject string) error {
	return fmt.Errorf("%w: no stream captures subject %q", bus.ErrNoTopic, subject)
}

// maxForeign bounds the user topics whose streams are cached. One stream may capture any number of subjects, and each
// timer may name another subject.
const maxForeign = 4096

// foreign caches the streams that capture user topics.
type foreign struct {
	mu sync.Mutex
	by map[bus.Topic]*stream
}

func (f *foreign) get(topic bus.Topic) *stream {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by[topic]
}

func (f *foreign) set(topic bus.Topic, s *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for other := range f.by {
		if len(f.by) < maxForeign {
			break
		}
		delete(f.by, other) // an arbitrary topic; the next use looks it up again
	}
	f.by[topic] = s
}

// forget removes a stream that is gone from the cache, so that the next call looks it up again.
func (f *foreign) forget(gone *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for topic, s := range f.by {
		if s == gone {
			delete(f.by, topic)
		}
	}
}

// streamOf returns the stream of a topic. The stream of a user topic is requested from the server once and then
// cached.
func (b *Bus) streamOf(ctx context.Context, topic bus.Topic) (*stream, error) {
	subject, own := topic.OwnName()
	if !own {
		return b.streams[topic], nil
	}
	if s := b.foreign.get(topic); s != nil {
		return s, nil
	}
	asking, cancel := b.brief(ctx)
	defer cancel()
	name, err := b.js.StreamNameBySubject(asking, subject)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, errNoTopic(subject)
	}
	if err != nil {
		return nil, fmt.Errorf("find the stream that captures %q: %w", subject, err)
	}
	s := &stream{name: name, subject: subject}
	info, err := b.info(ctx, s)
	if err != nil {
		return nil, err
	}
	if _, timerbus := info.Config.Metadata[partitionsLabel]; timerbus {
		return nil, fmt.Errorf("%w: stream %s, which captures %q, belongs to a Timerbus cluster", bus.ErrUnsupported, name, subject)
	}
	b.foreign.set(topic, s)
	return s, nil
}

// readable finds the stream of a user topic for a Consume. It retries until the server responds.
func (b *Bus) readable(ctx context.Context, topic bus.Topic) error {
	for {
		s, err := b.streamOf(ctx, topic)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Consume is ending, so the error does not matter
		case errors.Is(err, bus.ErrUnsupported):
			return err
		case errors.Is(err, bus.ErrNoTopic):
			return fmt.Errorf("%w: %w", bus.ErrUnavailable, err)
		case err == nil:
			return b.keeps(ctx, s)
		}
		b.log.Debug("stream not found yet", "topic", topic, "error", err)
		timer.Sleep(ctx, b.opts.RetryPause)
	}
}

// keeps returns an error for a stream that removes consumed messages: a group could not read them again, and a second
// group could not read them at all.
func (b *Bus) keeps(ctx context.Context, s *stream) error {
	info, err := b.info(ctx, s)
	if err != nil {
		return fmt.Errorf("%w: %w", bus.ErrUnavailable, err)
	}
	if r := info.Config.Retention; r != jetstream.LimitsPolicy {
		return fmt.Errorf("%w: stream %s has retention %q, want %q: it removes consumed messages",
			bus.ErrUnsupported, s.name, r, jetstream.LimitsPolicy)
	}
	return nil
}

var _ bus.TopicMaker = (*Bus)(nil)

// MakeTopic implements bus.TopicMaker. If no stream captures the subject, it creates a stream for this subject only,
// with the retention of the topic of fired events.
func (b *Bus) MakeTopic(ctx context.Context, topic bus.Topic) error {
	subject, own := topic.OwnName()
	if !own || subject == "" {
		return fmt.Errorf("create topic %q: %w: it is not a user topic", topic, bus.ErrUnsupported)
	}
	if err := b.opts.checkOwn(topic); err != nil {
		return fmt.Errorf("create %w", err)
	}
	if b.handle.Closed() {
		return fmt.Errorf("create topic %q: %w", subject, bus.ErrClosed)
	}
	_, err := b.streamOf(ctx, topic)
	if errors.Is(err, bus.ErrNoTopic) {
		if err = b.makeOwn(ctx, subject); err == nil {
			_, err = b.streamOf(ctx, topic)
		}
	}
	switch {
	case errors.Is(err, bus.ErrUnsupported):
		return fmt.Errorf("create topic %q: %w", subject, err)
	case err != nil:
		return fmt.Errorf("create topic %q: %w: %w", subject, bus.ErrUnavailable, err)
	}
	return nil
}

func (b *Bus) makeOwn(ctx context.Context, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, ensurePatience)
	defer cancel()
	cfg := b.kept(bus.Fired)
	cfg.Name, cfg.Description = ownStream(subject), "Timerbus: a user's topic "+subject
	cfg.Subjects, cfg.Metadata = []string{subject}, nil
	for {
		err := b.create(ctx, cfg)
		switch {
		case err == nil, overlaps(err):
			return nil
		case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse):
			// Another process was faster. If the existing stream has a different subject, no stream captures this
			// one, and the following streamOf returns ErrNoTopic.
			return nil
		case !passing(err) || !timer.Sleep(ctx, 100*time.Millisecond):
			return fmt.Errorf("create stream %s: %w", cfg.Name, err)
		}
	}
}

func (b *Bus) create(ctx context.Context, cfg jetstream.StreamConfig) error {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	_, err := b.js.CreateStream(ctx, cfg)
	return err
}

// codeOverlap is the server's "subjects overlap with an existing stream": another process was faster.
const codeOverlap jetstream.ErrorCode = 10065

func overlaps(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeOverlap
}

// ownStream returns the name of a subject's stream. Stream names contain no dots, and a user's stream may already
// have the subject's name: the checksum distinguishes "a.b", "a-b" and the user's stream.
func ownStream(subject string) string {
	sum := crc32.Checksum([]byte(subject), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf("%s-%08x", strings.ReplaceAll(subject, ".", "-"), sum)
}
