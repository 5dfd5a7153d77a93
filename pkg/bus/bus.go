package bus

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
)

// Bus is one client's handle on a message bus. All methods are safe for concurrent use.
type Bus interface {
	// Publish hands messages to the topic, each to its own Partition, in the order given per
	// partition, and returns their positions once the bus has them all.
	//
	//   - A nil error means that the bus has every message; for KindHints, that it was sent.
	//   - A position is zero for KindHints. For a message that the bus recognised as a repetition
	//     (same ID within its window) it is the first one's position, if the bus tells it.
	//   - ErrUnavailable: none was taken. ErrOutcomeUnknown: any may have been. ErrTooLarge names a
	//     message that can never pass; whether the others were taken is then unknown too.
	//   - An error that is a *PartialError says so for each message.
	//   - No messages: nil, without a round trip.
	//   - Once it has returned, the bus keeps nothing of the messages' memory.
	Publish(ctx context.Context, topic Topic, messages ...Message) ([]Position, error)

	// Consume joins the group and blocks until ctx ends (then it returns nil) or the bus fails for
	// good. Connection losses are survived: sessions end with ErrLost and open again.
	//
	// For every partition assigned to this member, open is called once and its Session then gets
	// that partition's deliveries; see Mode for what an assignment means in each mode. When open
	// fails, the partition is given up, and opened again after a pause, which grows with each failure in a row to some
	// seconds. Consume returns only after every Session's Close has returned.
	//
	// In Ordered and Live a handle is one member of the group: a second Consume of the same topic
	// and group at the same time is refused.
	//
	// Where an operator has added partitions to a topic, Ordered mode consumes those as well, since other
	// publishers may choose them: p is then not below Partitions. Live and Queue do not, because only Timerbus
	// publishes there.
	Consume(ctx context.Context, spec Spec, open OpenSession) error

	// Floor returns how far the group has come in each partition of the topic that Consume reads. For a topic where
	// the group has never consumed, the floor is the oldest message kept. The answer may be from
	// slightly before the call's end but never from before its start. Once every message that the bus
	// will deliver is acknowledged, the floor is the end. This holds after a crash of the server too,
	// without new messages. Not for KindHints, nor for user topics, which may have any number of partitions.
	Floor(ctx context.Context, topic Topic, group string) (Floors, error)

	// Ready returns why this handle's Consume of the topic in the group makes no progress, and nil if it does. The error
	// wraps ErrUnavailable and the cause; it is ErrClosed after Close. Ready does not ask the bus.
	//
	//   - A Consume makes no progress before it has joined the group and opened its first sessions, while open, Deliver,
	//     reading or committing fails for any of its partitions, and while it is cut off from the bus. A session that
	//     replaces a failed one counts once it has lasted for some seconds.
	//   - A member without partitions, because other members have them, is ready. So is one to which a partition moves,
	//     unless that takes unusually long.
	//   - Without a Consume there is no progress.
	Ready(topic Topic, group string) error

	// Partitions is the cluster's partition count, fixed when the cluster was made. Messages are published to these
	// partitions only.
	Partitions() int

	// Close ends every Consume as if its context had ended, waits for them, flushes and closes the
	// connection. Later calls return ErrClosed.
	Close() error
}

// TopicMaker is the rare power of a bus that can make topics of a user's own. Publish and Consume never make
// one: without it they fail with ErrNoTopic (and ErrUnavailable) until somebody has made it.
type TopicMaker interface {
	// MakeTopic makes the topic, with as many partitions as the bus gives by default. It is not an error if
	// the topic is there; what it holds and how it is set up stays as it is.
	MakeTopic(ctx context.Context, topic Topic) error
}

// Message is what a publisher hands over.
type Message struct {
	// Partition chooses where it goes; the caller computes it from the timer's shard.
	Partition shard.Partition
	// Key names what the message is about (a shard for internal topics, namespace/id for public
	// ones). Messages of one key share a partition and keep their order.
	Key string
	// ID lets the bus drop repetitions within its own window (JetStream: Nats-Msg-Id). Empty: never
	// dropped. Engines without such a window ignore it.
	ID string
	// Headers travel beside the body: CloudEvents attributes, trace context. Names are ASCII. Names
	// that steer the bus itself (JetStream: Nats-*) are dropped.
	Headers map[string]string
	// Body is opaque to the bus. At most 1 MiB together with key and headers.
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

// Position is where a message lies in its partition. Positions of one partition order by
// (Incarnation, Offset); positions of different partitions do not compare.
//
// A handle never sees the same position for two messages of a queue. If the server loses messages in a crash and
// assigns their offsets again, the new messages have a larger Incarnation. A floor beyond the position of a lost
// message therefore means that the message will not be delivered.
type Position struct {
	Partition shard.Partition
	// Incarnation is the topic epoch. It grows when a topic is created again under the same name, and when
	// a queue has lost messages.
	Incarnation int64
	// Offset grows within an incarnation; the first is 1, so that the zero Position lies before all. A
	// delivery with the zero Position says that its bus does not tell places.
	Offset int64
}

// Before reports whether p lies before q. Both must be of the same partition.
func (p Position) Before(q Position) bool {
	if p.Incarnation != q.Incarnation {
		return p.Incarnation < q.Incarnation
	}
	return p.Offset < q.Offset
}

// Mode says what Consume's sessions get.
type Mode int

const (
	// Ordered (KindLog): a partition has one owner at a time; deliveries come in the order of their
	// offsets, from the first one not committed by the group; acks may come in any order and commit
	// the contiguous prefix. A delivery is repeated, in order, to the next owner if it was not
	// committed. Nack restarts the partition from the first delivery not acknowledged.
	Ordered Mode = iota + 1
	// Live (KindHints): a partition has one owner at a time; deliveries are what is published after
	// the position was fixed, which happens before open is called, so that an owner that reads the
	// store in open misses nothing. Nothing is kept or repeated; Ack and Nack do nothing.
	Live
	// Queue (KindQueue): any member takes any message; each is acknowledged by itself, and comes
	// again, to any member, after Nack's delay, after AckWait, or soon after its member died. A
	// session that ends in good order gives back at once what it has not acknowledged. Where the
	// bus has no partitions for this mode, there is one session per member, with partition 0; it
	// may outlive the loss of a connection, since it owns nothing. The queue belongs to one group:
	// on buses that remove what is acknowledged, a second one gets ErrUnsupported. Below the bounds of Spec, messages of
	// one partition do not wait for the acknowledgement of those of others.
	Queue
)

// AckWait is how long a Queue delivery may stay without Ack, Nack or Extend before it is delivered
// again. Rule I11 keeps long callbacks out of the queue, so it can be short.
const AckWait = 5 * time.Second

// Spec says what to consume and how.
type Spec struct {
	Topic Topic
	// Group is the consumer group; members of one group share the partitions (Ordered, Live) or the
	// messages (Queue).
	Group string
	Mode  Mode
	// MaxInFlight bounds the deliveries handed to one session and not yet acknowledged; the bus
	// stops delivering at the bound and goes on below it. In Ordered mode it also stops when the
	// first delivery not acknowledged lies 16 times as far back. 0 means 1,024. Ignored in Live
	// mode, where a session that is slow to return from Deliver loses messages instead.
	MaxInFlight int
	// MaxBytes bounds the same deliveries by their size (Message.Size): the bus delivers a message only while the
	// earlier ones have fewer bytes. So a session holds at most MaxBytes and one message, and a message of any size
	// passes. An engine reads ahead MaxBytes for each session, or one fetch. 0 means 64 MiB. Ignored in Live mode.
	MaxBytes int
}

// The defaults of Spec.
const (
	defaultMaxInFlight = 1024
	defaultMaxBytes    = 64 << 20
)

// Complete checks the spec, as every bus does first, and fills in the defaults.
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

// OpenSession is called when a partition was assigned. ctx lives as long as the session: it is
// cancelled, with the cause, before Close is called.
type OpenSession func(ctx context.Context, p shard.Partition) (Session, error)

// Session is the owner's side of one assignment. The bus calls its methods one after another.
type Session interface {
	// Deliver enqueues one delivery and returns; it must not wait for the work itself. An error
	// ends the session as if it was lost.
	Deliver(ctx context.Context, d *Delivery) error
	// Close ends the session. With cause ErrRevoked or ErrStopping, what is acknowledged until it
	// returns is committed, and the next owner starts only then; with ErrLost nothing is committed.
	// The ctx given here bounds how long the bus can wait, not the session's own: past it the
	// partition goes on and nothing more is committed. The error is for the engine's log.
	Close(ctx context.Context, cause error) error
}

// GapSession is what a Session in Ordered mode may be, too.
type GapSession interface {
	Session
	// Missed reports messages of the partition that are lost to the group: the bus has removed them, and the group has
	// not acknowledged them. It is called before the first Deliver of a later message. Each gap is reported to one
	// session; after a crash of the bus or the member it may be reported again.
	Missed(ctx context.Context, gap Gap)
}

// Gap is a run of messages that were removed before the group had acknowledged them: by a limit on age or size, or by an
// operator.
type Gap struct {
	// After is the last position that the group is known to have acknowledged. The zero Position: the bus does not
	// know; the group may be new.
	After Position
	// First is the oldest position kept; everything between After and First is removed.
	First Position
	// Messages is the number of removed messages, or more. On a bus whose partitions share a sequence (JetStream) it
	// is an equal share of the messages removed from all partitions, so that the sum over the partitions is right.
	Messages int64
}

// Delivery is one message as consumed. Exactly one of Ack and Nack counts, the first; after the
// session's end both do nothing. They may be called from any goroutine and do not block.
type Delivery struct {
	Message
	Position Position
	// Time is when the bus took the message, by the bus's clock; zero if it does not tell.
	Time time.Time
	// Deliveries counts how often the message was delivered, this time included; 0 where the bus
	// does not know.
	Deliveries int

	// Acker is the engine's side. Tests may supply their own.
	Acker Acker
}

// Acker is what an engine gives with each delivery.
type Acker interface {
	Ack()
	Nack(after time.Duration)
	Extend()
}

// Ack says that the delivery's outcome is durable elsewhere.
func (d *Delivery) Ack() { d.Acker.Ack() }

// Nack asks for the delivery again after a delay.
func (d *Delivery) Nack(after time.Duration) { d.Acker.Nack(after) }

// Extend starts AckWait anew. Only in Queue mode.
func (d *Delivery) Extend() { d.Acker.Extend() }

// Floor is how far a group has come in one partition.
type Floor struct {
	// Floor is the oldest position not yet acknowledged, or End when there is none: everything
	// before it is acknowledged or gone.
	Floor Position
	// End lies behind every message, and no later message will lie before it. The next message gets
	// it, or a later one where partitions share their sequence (JetStream).
	End Position
	// Depth counts the messages not yet acknowledged, delivered ones included.
	Depth int
	// Waiting counts those of Depth that no member of a queue has taken yet, or is WaitingUnknown.
	Waiting int
	// Queue is the number of the queue that Depth and Waiting count: partitions with the same number share it.
	Queue int
}

// WaitingUnknown is the Waiting of a bus that does not report it.
const WaitingUnknown = -1

// Floors has one Floor for each partition, by partition number. Where partitions of a queue share a stream, their
// entries are alike except for the partition number.
type Floors []Floor
