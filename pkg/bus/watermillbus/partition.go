package watermillbus

import "encoding/binary"

// partitionOf chooses a command's partition by its key, like Kafka's clients by default. Commands for one timer are
// therefore in one partition, in order, if some publishers use this package and others Kafka directly. Without a key
// the partition is 0, which keeps the order of these commands too.
func partitionOf(key string, partitions int) int {
	if key == "" {
		return 0
	}
	return int(murmur2([]byte(key))&0x7fffffff) % partitions
}

// murmur2 is the 32-bit MurmurHash2 with the seed of Kafka's clients.
func murmur2(b []byte) uint32 {
	const seed, m, r = 0x9747b28c, 0x5bd1e995, 24
	h := uint32(seed) ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * m
		k = (k ^ k>>r) * m
		h = h*m ^ k
	}
	for i, c := range b {
		h ^= uint32(c) << (8 * i)
	}
	if len(b) > 0 {
		h *= m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}
