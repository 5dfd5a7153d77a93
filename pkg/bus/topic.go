package bus

import "strings"

// Topic is one of the six topics that Timerbus uses, or a topic of a user's own. Engines put the
// cluster's prefix before the name of one of the six, so that several clusters can live on one bus.
type Topic string

// ownMark begins every topic of a user's own; none of the six has it.
const ownMark = "own:"

// Own is a topic of a user's own, by the name under which everybody knows it on the bus: engines put no
// prefix before it. It is a public log whose partitions are the user's affair: the bus chooses by the
// message's Key, as clients of that bus do by default, and Message.Partition is ignored. Groups that consume
// it are the cluster's, as for the six. A name that the bus cannot have, that begins with the cluster's
// prefix and a dot, or that belongs to another cluster on the same bus, is answered with ErrUnsupported.
func Own(name string) Topic { return Topic(ownMark + name) }

// OwnName is the name of a topic of a user's own; false for one of the six.
func (t Topic) OwnName() (name string, ok bool) { return strings.CutPrefix(string(t), ownMark) }

const (
	// Commands carries create, update and delete from anyone to ingest. It is a public log and the
	// only topic that is truth by itself, until ingest has committed what it says. So an engine never removes
	// commands that GroupIngest has not acknowledged to make room: Publish fails with ErrFull instead. An engine
	// that cannot refuse messages (Kafka) keeps commands far longer than other logs.
	Commands Topic = "commands"
	// Shards carries hints from ingest and dispatchers to schedulers. Nothing is kept.
	Shards Topic = "shards"
	// Due carries due timers from schedulers to dispatchers through a shared queue.
	Due Topic = "due"
	// Fired carries deliveries to whoever listens. A public log.
	Fired Topic = "fired"
	// Results carries what became of each attempt and of each topic command. A public log.
	Results Topic = "results"
	// Dead carries timers given up or parked, and commands refused. A public log.
	Dead Topic = "dead"
)

// Kind says what an engine must keep for a topic.
type Kind int

const (
	// KindLog is kept up to a maximum age and size, read or not. Commands is an exception.
	KindLog Kind = iota + 1
	// KindHints is not kept: a message reaches the present owner of its partition or nobody.
	KindHints
	// KindQueue is kept until one member of the group has acknowledged it.
	KindQueue
)

// Kind tells how the topic is kept; 0 for a topic that is neither one of the six nor a user's own.
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

// Topics lists all six in the order of a timer's way through the service.
func Topics() []Topic {
	return []Topic{Commands, Shards, Due, Fired, Results, Dead}
}

// Consumer groups of the services. The dispatchers' is also what schedulers ask the Floor of.
const (
	GroupIngest      = "ingest"
	GroupSchedulers  = "schedulers"
	GroupDispatchers = "dispatchers"
)
