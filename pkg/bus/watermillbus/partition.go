package watermillbus

import "encoding/binary"

// partitionOf chooses a command's partition by its key, as Kafka's clients choose one by default, so that
// commands about one timer that some publish through this package and others directly to Kafka lie on one
// partition, in order. Without a key it is 0, so that an order that nobody asked for is kept too.
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
