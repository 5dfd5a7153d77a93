package shard

import (
	"strconv"
	"strings"
)

// FollowUpPrefix begins the ids of follow-ups: timers that the service creates in the transaction that finishes another timer.
// A transaction of every engine can write two rows of one shard, so the follow-up is in the shard of the finished timer, and
// its id contains the shard. Users cannot create timers with such ids.
const FollowUpPrefix = "timerbus:"

// FollowUpID returns the id of a follow-up in a shard of the block: "timerbus:" and the shard's place in the block, from 0, and
// ":" and a name, which must be unique in the namespace.
func (b Block) FollowUpID(id ID, name string) string {
	return FollowUpPrefix + strconv.Itoa(int(id-b.Base)) + ":" + name
}

// IsFollowUp reports whether FollowUpID returned the id.
func IsFollowUp(timerID string) bool {
	_, ok := followUpShard(timerID)
	return ok
}

// followUpShard returns the place of the shard in an id that FollowUpID returned; ok is false for any other id.
func followUpShard(timerID string) (index int, ok bool) {
	rest, ok := strings.CutPrefix(timerID, FollowUpPrefix)
	if !ok {
		return 0, false
	}
	digits, _, ok := strings.Cut(rest, ":")
	index, err := strconv.Atoi(digits)
	return index, ok && err == nil && strconv.Itoa(index) == digits && index >= 0
}
