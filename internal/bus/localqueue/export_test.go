package localqueue

import "github.com/timerbus/timerbus/pkg/shard"

// Kept returns how many messages of a partition are in memory.
func (b *Bus) Kept(p shard.Partition) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue.parts[p].items)
}
