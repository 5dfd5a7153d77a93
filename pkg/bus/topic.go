package bus

import "strings"

// Topic is one of the six service topics or a user topic. Engines prepend the cluster's prefix to the name of a
// service topic, so that several clusters can share one bus.
type Topic string

// ownMark is the first part of every user topic's value; no service topic begins with it.
const ownMark = "own:"

// Own returns the user topic with this name on the bus; engines add no prefix. A user topic is a public log whose
// partitions the user configures: the bus chooses the partition by the message's Key, as clients of that bus do by
// default, and ignores Message.Partition. Its consumer groups belong to the cluster, as for the service topics.
// Engines return ErrUnsupported for a name that is invalid on the bus, that begins with the cluster's prefix and a
// dot, or that belongs to another cluster on the same bus.
func Own(name string) Topic { return Topic(ownMark + name) }

// OwnName returns the name of a user topic; ok is false for a service topic.
func (t Topic) OwnName() (name string, ok bool) { return strings.CutPrefix(string(t), ownMark) }

const (
	// Commands carries create, update and delete commands from any client to ingest. It is a public log, and the only
	// topic that is a source of truth: a command exists only there until ingest has committed it. Therefore an engine
	// never removes commands that GroupIngest has not acknowledged to make room: Publish fails with ErrFull instead.
	// An engine that cannot refuse messages (Kafka) keeps commands far longer than other logs.
	Commands Topic = "commands"
	// Shards carries hints from ingest and dispatchers to schedulers. The bus does not keep them.
	Shards Topic = "shards"
	// Due carries due events from schedulers to dispatchers through a shared queue.
	Due Topic = "due"
	// Fired carries deliveries to any subscriber. It is a public log.
	Fired Topic = "fired"
	// Results carries the result of each attempt and of each topic command. It is a public log.
	Results Topic = "results"
	// Dead carries dead timers, parked timers and refused commands. It is a public log.
	Dead Topic = "dead"
)

// Kind is the retention that an engine must provide for a topic.
type Kind int

const (
	// KindLog is kept up to a maximum age and size, whether consumed or not. Commands is an exception.
	KindLog Kind = iota + 1
	// KindHints is not kept: only the present owner of the partition, if any, receives a message.
	KindHints
	// KindQueue is kept until one member of the group has acknowledged it.
	KindQueue
)

// Kind returns the topic's kind; 0 for a topic that is neither a service topic nor a user topic.
func (t Topic) Kind() Kind {
	if name, ok := t.OwnName(); ok && name != "" {
		return KindLog
	}
	switch t {
	case Commands, Fired, Results, Dead:
		return KindLog
	case Shards:
		return KindHints
	case Due:
		return KindQueue
	default:
		return 0
	}
}

// Topics returns the six service topics in the order in which a timer passes through them.
func Topics() []Topic {
	return []Topic{Commands, Shards, Due, Fired, Results, Dead}
}

// Consumer groups of the services. Schedulers request the Floor of GroupDispatchers.
const (
	GroupIngest      = "ingest"
	GroupSchedulers  = "schedulers"
	GroupDispatchers = "dispatchers"
)
