// Package assign computes which member of a group should own which partition.
//
// It owns one pure function. It imports the standard library only and never accesses a bus. Every member computes the
// same assignment from the same member list, so no leader is needed. The assignment only determines which member
// tries to acquire a partition; the partition's lease decides which member owns it.
package assign

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
)

// Owners returns the intended owner of each partition. It uses rendezvous hashing, so that few partitions move when a
// member joins or leaves, with a quota, so that the partition counts of two members differ by at most one. The order
// of members and repetitions in the list do not matter. The salt (topic and group) keeps different groups from giving
// their extra partitions to the same member. Without members, Owners returns nil.
func Owners(salt string, members []string, partitions int) []string {
	members = slices.Clone(members)
	slices.Sort(members)
	members = slices.Compact(members)
	if len(members) == 0 {
		return nil
	}
	quota, extras := partitions/len(members), partitions%len(members)
	load := make([]int, len(members))
	owners := make([]string, partitions)
	for p := range owners {
		best, bestScore := -1, uint64(0)
		for i, m := range members {
			if load[i] > quota || (load[i] == quota && extras == 0) {
				continue
			}
			if s := score(salt, m, p); best < 0 || s > bestScore {
				best, bestScore = i, s
			}
		}
		if load[best] == quota {
			extras--
		}
		load[best]++
		owners[p] = members[best]
	}
	return owners
}

// score applies a finalizer to the FNV hash: FNV's last input bytes barely affect the high bits, and the high bits
// decide which score is the largest.
func score(salt, member string, partition int) uint64 {
	h := fnv.New64a()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(salt)))
	h.Write(n[:])
	h.Write([]byte(salt))
	h.Write([]byte(member))
	binary.BigEndian.PutUint64(n[:], uint64(partition))
	h.Write(n[:])
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
