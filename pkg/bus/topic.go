package bus

// Topic is one of the six topics that Timerbus uses. Engines put the cluster's prefix before the
// name, so that several clusters can live on one bus.
type Topic string

const (
	// Commands carries create, update and delete from anyone to ingest. It is a public log and the
	// only topic that is truth by itself, until ingest has committed what it says.
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
	// KindLog is kept up to a maximum age and size, whoever has read it.
	KindLog Kind = iota + 1
	// KindHints is not kept: a message reaches the present owner of its partition or nobody.
	KindHints
	// KindQueue is kept until one member of the group has acknowledged it.
	KindQueue
)

// Kind tells how the topic is kept; 0 for a topic that is not one of the six.
func (t Topic) Kind() Kind {
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
