package bus

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
)

// Bus is one client's handle on a message bus. All methods are safe for concurrent use.
type Bus interface {
	// Publish sends each message to its Partition of the topic. Within a partition it keeps the order of the
	// arguments. It returns the messages' positions once the bus has all messages.
	//
	//   - A nil error means that the bus has every message; for KindHints, that every message was sent.
	//   - The position is zero for KindHints. For a message that the bus recognised as a repetition (same ID within
	//     its deduplication window) it is the position of the first copy, or zero if the bus does not report it.
	//   - ErrUnavailable: the bus has none of the messages. ErrOutcomeUnknown: it may have any of them. ErrTooLarge:
	//     a message exceeds the bus's limit and will never be accepted; whether the bus has the other messages is
	//     then unknown.
	//   - A *PartialError has one error for each message.
	//   - Without messages Publish returns nil, without a round trip.
	//   - After Publish has returned, the bus keeps no reference to the messages' memory.
	Publish(ctx context.Context, topic Topic, messages ...Message) ([]Position, error)

	// Consume joins the group and blocks until ctx ends (it then returns nil) or the bus fails permanently. It
	// survives the loss of the connection: sessions end with ErrLost and are opened again.
	//
	// Consume calls open once for every partition assigned to this member, and then passes that partition's
	// deliveries to the Session. Mode describes the assignment of each mode. If open fails, there is no Session, and
	// Consume calls open again after a backoff, which grows with each consecutive failure, up to a few seconds. Consume
	// returns only after every Session's Close has returned.
	//
	// In the modes Ordered and Live, a handle is one member of the group: a second concurrent Consume of the same
	// topic and group is rejected.
	//
	// If an operator has added partitions to a topic, Ordered mode consumes them as well, because publishers other
	// than Timerbus may choose them: p is then >= Partitions. Live and Queue do not consume them, because only
	// Timerbus publishes to those topics.
	Consume(ctx context.Context, spec Spec, open OpenSession) error

	// Floor returns how far the group has acknowledged each partition of the topic that Consume reads. If the group
	// has never consumed the topic, the floor is the oldest message kept. The result is from the time between the
	// start and the end of the call. Once every message that the bus will deliver is acknowledged, the floor is equal
	// to the end. This is true after a crash of the server too, without new messages. Floor supports neither
	// KindHints nor user topics, which may have any number of partitions.
	Floor(ctx context.Context, topic Topic, group string) (Floors, error)

	// Ready returns why this handle's Consume of the topic in the group makes no progress, and nil if it does. The
	// error wraps ErrUnavailable and the cause; after Close it is ErrClosed. Ready sends no request to the bus.
	//
	//   - A Consume makes no progress before it has joined the group and opened its first sessions, while open,
	//     Deliver, a read or a commit fails for any of its partitions, and while it is disconnected from the bus. A
	//     session that replaces a failed one counts as working after a few seconds without a failure.
	//   - A member without partitions, because other members have them, is ready. A member to which a partition moves
	//     is ready too, unless the move takes unusually long.
	//   - If no Consume is running, there is no progress.
	Ready(topic Topic, group string) error

	// Partitions is the cluster's partition count, which is fixed when the cluster is created. Publish uses these
	// partitions only.
	Partitions() int

	// Properties returns what publishers and readers of public messages need to know about the bus. It never changes.
	Properties() Properties

	// Close ends every Consume as if its context had ended, waits until each has returned, flushes, and closes the
	// connection. Later calls return ErrClosed.
	Close() error
}

// Properties are the conventions of a bus for the names of topics and the format of public messages.
type Properties struct {
	// Prefix begins the names of the cluster's topics on the server: topic "fired" of the prefix "timerbus" is
	// timerbus.fired or timerbus-fired. Several clusters can share a server with different prefixes.
	Prefix string
	// HeaderAttributes: readers of this bus expect the attributes of a CloudEvent in headers and only its data in the
	// body (binary mode), as usual on Kafka. Otherwise the body is the whole event (structured mode).
	HeaderAttributes bool
}

// Credentials is an optional capability, found through As, of engines whose user and password can change while they are open.
type Credentials interface {
	// SetCredentials makes new connections use a different user and password. Existing connections continue until the
	// server ends them. On NATS, a user without a password is a token. The kind must stay the same: no credentials, a
	// token, or a user with a password.
	SetCredentials(*url.Userinfo)
}

// As finds an optional capability of a bus, also behind decorators that have `Unwrap() Bus`.
func As[T any](b Bus) (T, bool) {
	for {
		if capability, ok := b.(T); ok {
			return capability, true
		}
		decorator, ok := b.(interface{ Unwrap() Bus })
		if !ok {
			var none T
			return none, false
		}
		b = decorator.Unwrap()
	}
}

// TopicMaker is an optional interface of a Bus that can create user topics. Publish and Consume never create one: if
// the topic does not exist, they fail with ErrNoTopic (and ErrUnavailable).
type TopicMaker interface {
	// MakeTopic creates the topic with the bus's default number of partitions. If the topic exists, MakeTopic returns
	// nil and changes neither its messages nor its settings.
	MakeTopic(ctx context.Context, topic Topic) error
}

// Message is a message to publish.
type Message struct {
	// Partition is the destination; the caller computes it from the timer's shard.
	Partition shard.Partition
	// Key names the subject of the message: a shard for internal topics, namespace/id for public ones. Messages with
	// the same key share a partition and keep their order.
	Key string
	// ID enables the bus to drop repetitions within its deduplication window (JetStream: Nats-Msg-Id). A message with
	// an empty ID is never dropped. Engines without such a window ignore the ID.
	ID string
	// Headers are sent separately from the body: CloudEvents attributes, trace context. Names are ASCII. The engine
	// drops headers that control the bus itself (JetStream: Nats-*).
	Headers map[string]string
	// Body is opaque to the bus. Body, key and headers together have at most 1 MiB.
	Body []byte
}

// Size is the number of bytes of body, key and headers.
func (m *Message) Size() int {
	n := len(m.Body) + len(m.Key)
	for name, value := range m.Headers {
		n += len(name) + len(value)
	}
	return n
}

// Position is the position of a message in its partition. Positions of one partition are ordered by (Epoch,
// Offset); positions of different partitions are not comparable.
//
// A handle never gets the same position for two messages of a queue. If the server loses messages in a crash and
// assigns their offsets again, the new messages have a larger Epoch. A floor beyond the position of a lost
// message therefore means that the message will not be delivered.
type Position struct {
	Partition shard.Partition
	// Epoch is the topic epoch. It grows when a topic is created again under the same name, and when a queue
	// has lost messages.
	Epoch int64
	// Offset grows within a topic epoch. The first offset is 1, so the zero Position is before all others. A delivery
	// with the zero Position comes from a bus that does not report positions.
	Offset int64
}

// Before reports whether p is before q. Both must be of the same partition.
func (p Position) Before(q Position) bool {
	if p.Epoch != q.Epoch {
		return p.Epoch < q.Epoch
	}
	return p.Offset < q.Offset
}

// Mode selects how Consume assigns partitions and delivers messages.
type Mode int

const (
	// Ordered (KindLog): a partition has one owner at a time. Messages are delivered in the order of their offsets,
	// starting with the first one that the group has not committed. Acks may come in any order; the bus commits the
	// contiguous prefix. An uncommitted delivery is repeated to the next owner, in order. Nack restarts the partition
	// from the first unacknowledged delivery.
	Ordered Mode = iota + 1
	// Live (KindHints): a partition has one owner at a time. The owner receives the messages that are published after
	// its start position was fixed. The engine fixes that position before it calls open, so an owner that reads the
	// store in open misses nothing. Messages are neither kept nor repeated; Ack and Nack have no effect.
	Live
	// Queue (KindQueue): any member receives any message and acknowledges it individually. A message is delivered
	// again, to any member, after Nack's delay, after AckWait, or soon after its member died. When a session ends
	// gracefully, it returns its unacknowledged messages to the queue immediately. If the bus has no partitions for
	// this mode, each member has one session, with partition 0; the session owns nothing, so it may survive the loss
	// of a connection. The queue belongs to one group: on buses that remove acknowledged messages, a second group
	// gets ErrUnsupported. Below the bounds of Spec, messages of one partition do not wait for acknowledgements of
	// other partitions' messages.
	Queue
)

// AckWait is how long a Queue delivery may remain without Ack, Nack or Extend before it is delivered again. It can be
// short, because rule I11 keeps long callbacks out of the queue.
const AckWait = 5 * time.Second

// Spec configures one Consume.
type Spec struct {
	Topic Topic
	// Group is the consumer group. Its members share the partitions (Ordered, Live) or the messages (Queue).
	Group string
	Mode  Mode
	// MaxInFlight bounds the unacknowledged deliveries of one session; the bus pauses delivery at the bound and
	// resumes below it. In Ordered mode the bus also pauses when the first unacknowledged delivery is 16 ×
	// MaxInFlight deliveries behind. 0 means 1,024. Live mode ignores MaxInFlight; there, a session whose Deliver
	// returns slowly loses messages.
	MaxInFlight int
	// MaxBytes bounds the same deliveries by size (Message.Size): the bus delivers a message only while the
	// unacknowledged deliveries have fewer bytes. A session therefore has at most MaxBytes and one message in flight,
	// and a message of any size passes. An engine prefetches at most MaxBytes for each session, or one fetch. 0 means
	// 64 MiB. Live mode ignores MaxBytes.
	MaxBytes int
}

// The defaults of Spec.
const (
	defaultMaxInFlight = 1024
	defaultMaxBytes    = 64 << 20
)

// Complete validates the spec and sets the defaults. Every bus calls it first.
func (s *Spec) Complete() error {
	fits := map[Mode]Kind{Ordered: KindLog, Live: KindHints, Queue: KindQueue}
	if kind, ok := fits[s.Mode]; !ok || s.Topic.Kind() != kind {
		return fmt.Errorf("consume %s in mode %d: %w", s.Topic, s.Mode, ErrUnsupported)
	}
	if s.MaxInFlight < 0 || s.MaxBytes < 0 {
		return fmt.Errorf("consume %s: MaxInFlight %d or MaxBytes %d is negative", s.Topic, s.MaxInFlight, s.MaxBytes)
	}
	s.MaxInFlight = cmp.Or(s.MaxInFlight, defaultMaxInFlight)
	s.MaxBytes = cmp.Or(s.MaxBytes, defaultMaxBytes)
	return nil
}

// OpenSession is called when a partition is assigned. ctx is the session's context: it is cancelled, with the cause,
// before Close is called.
type OpenSession func(ctx context.Context, p shard.Partition) (Session, error)

// Session is the owner's side of one assignment. The bus does not call its methods concurrently.
type Session interface {
	// Deliver enqueues one delivery and returns; it must not wait for the work itself. An error ends the session as
	// if it was lost.
	Deliver(ctx context.Context, d *Delivery) error
	// Close ends the session. With cause ErrRevoked or ErrStopping, the bus commits the acknowledgements made before
	// Close returns, and the next owner starts only after that commit. With ErrLost the bus commits nothing. ctx
	// bounds how long the bus waits and is independent of the session's ctx: when it ends, the partition moves to the
	// next owner and nothing more is committed. The error is only for the engine's log.
	Close(ctx context.Context, cause error) error
}

// GapSession is an optional interface of a Session in Ordered mode.
type GapSession interface {
	Session
	// Missed reports messages of the partition that the bus removed before the group had acknowledged them. It is
	// called before the first Deliver of a later message. Each gap is reported to one session; after a crash of the
	// bus or the member it may be reported again.
	Missed(ctx context.Context, gap Gap)
}

// Gap is a run of messages that were removed before the group had acknowledged them: by a limit on age or size, or by
// an operator.
type Gap struct {
	// After is the last position that the group is known to have acknowledged. It is the zero Position if the bus
	// does not know it; the group may be new.
	After Position
	// First is the oldest position kept. All messages between After and First were removed.
	First Position
	// Messages is an upper bound of the number of removed messages. On a bus whose partitions share a sequence
	// (JetStream) it is an equal share of the messages removed from all partitions, so that the sum over the
	// partitions is correct.
	Messages int64
}

// Delivery is one message as consumed. Only the first call of Ack or Nack has an effect; after the end of the session
// neither has. They may be called from any goroutine and do not block.
type Delivery struct {
	Message
	Position Position
	// Time is when the bus received the message, by the bus's clock. It is zero if the bus does not report it.
	Time time.Time
	// Deliveries counts how often the message was delivered, including this delivery. It is 0 if the bus does not
	// know it.
	Deliveries int

	// Acker is the engine's implementation. Tests may supply another.
	Acker Acker
}

// Acker is implemented by the engine; every delivery has one.
type Acker interface {
	Ack()
	Nack(after time.Duration)
	Extend()
}

// Ack reports that the outcome of the delivery is durable elsewhere.
func (d *Delivery) Ack() { d.Acker.Ack() }

// Nack requests redelivery after a delay.
func (d *Delivery) Nack(after time.Duration) { d.Acker.Nack(after) }

// Extend restarts AckWait. It has an effect only in Queue mode.
func (d *Delivery) Extend() { d.Acker.Extend() }

// Floor is how far a group has acknowledged one partition (its ack floor).
type Floor struct {
	// Floor is the oldest unacknowledged position, or End if there is none. All messages before it are acknowledged
	// or removed.
	Floor Position
	// End is after every message, and no later message will get a position before it. The next message gets this
	// position, or a later one if partitions share their sequence (JetStream).
	End Position
	// Depth counts the unacknowledged messages, including those that are delivered.
	Depth int
	// Waiting counts the messages of Depth that no member of a queue has received yet, or is WaitingUnknown.
	Waiting int
	// Queue is the number of the queue that Depth and Waiting count: partitions with the same number share it.
	Queue int
}

// WaitingUnknown is the value of Waiting on a bus that does not report it.
const WaitingUnknown = -1

// Floors has one Floor for each partition, by partition number. If partitions of a queue share a stream, their
// entries differ only in the partition number.
type Floors []Floor
