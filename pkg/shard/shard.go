package shard

import (
	"hash/crc32"
	"strconv"
)

// ID is a shard's number: the unit of ownership and of store partitioning. It is unique over all namespaces of a
// cluster and never reused.
type ID uint32

func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// Partition is a partition of the bus, counted from 0.
type Partition int

// MaxPerNamespace is the largest numShards a namespace may be created with: twice the xlarge preset.
const MaxPerNamespace = 8192

// castagnoli is the polynomial of crc32c (RFC 3720, appendix B.4).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Block is the range of shard numbers of one namespace: [Base, Base+Count). Blocks of different namespaces never
// overlap, so that namespaces never share a hot shard.
type Block struct {
	Base  ID
	Count int
}

// Place returns the shard of a timer id: Base + crc32c(id) mod Count, or the shard that the id of a follow-up contains. Count
// must be positive.
func (b Block) Place(timerID string) ID {
	if index, ok := followUpShard(timerID); ok && index < b.Count {
		return b.Base + ID(index)
	}
	sum := crc32.Checksum([]byte(timerID), castagnoli)
	return b.Base + ID(sum%uint32(b.Count))
}

// Contains reports whether the shard is in the block.
func (b Block) Contains(id ID) bool {
	return id >= b.Base && uint64(id) < uint64(b.Base)+uint64(b.Count)
}

// PartitionOf returns the partition that carries the shard: id mod partitions. partitions must be positive and is fixed
// when a cluster is created.
func PartitionOf(id ID, partitions int) Partition {
	return Partition(uint64(id) % uint64(partitions))
}

// In returns the block's shards that a partition carries, in ascending order.
func (b Block) In(p Partition, partitions int) []ID {
	n := uint64(partitions)
	first := uint64(b.Base) + (uint64(p)+n-uint64(b.Base)%n)%n
	end := uint64(b.Base) + uint64(b.Count)
	if first >= end {
		return nil
	}
	ids := make([]ID, 0, (end-first+n-1)/n)
	for id := first; id < end; id += n {
		ids = append(ids, ID(id))
	}
	return ids
}
