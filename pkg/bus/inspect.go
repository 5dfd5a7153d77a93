package bus

import "time"

// Inspection is the answer of an engine's Inspect: the state of the cluster's topics on the server, for operators. No
// component makes decisions by it.
type Inspection struct {
	// Clock is the server's clock at some time during Inspect, or zero if the server does not show it.
	Clock  time.Time
	Topics []TopicState
	// MorePartitions: topics may have more partitions than the cluster, because an operator can add some.
	MorePartitions bool
}

// TopicState is the state of one topic, or of another object that the cluster has on the server, such as a bucket or a
// consumer group.
type TopicState struct {
	// Topic is empty for an object that is no topic.
	Topic Topic
	// Name is the name on the server.
	Name string
	// Missing: the server does not have it.
	Missing bool
	// Partitions is the number of partitions; 0 if the server does not know it.
	Partitions int
	// Denied are the rights that this user lacks, such as write.
	Denied []string
	// Err is set if the state could not be read, or if the object does not work, for example without a leader.
	Err error
}
