package shard_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
)

// vector is one line of testdata/placement.json, which another program computed.
type vector struct {
	TimerID     string          `json:"timerId"`
	CRC32C      uint32          `json:"crc32c"`
	Base        shard.ID        `json:"base"`
	Count       int             `json:"count"`
	Shard       shard.ID        `json:"shard"`
	Partition16 shard.Partition `json:"partition16"`
}

func TestPlacementIsAsPublished(t *testing.T) {
	raw, err := os.ReadFile("testdata/placement.json")
	if err != nil {
		t.Fatal(err)
	}
	var published struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(raw, &published); err != nil {
		t.Fatal(err)
	}
	if len(published.Vectors) < 100 {
		t.Fatalf("only %d vectors", len(published.Vectors))
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, v := range published.Vectors {
		if got := crc32.Checksum([]byte(v.TimerID), table); got != v.CRC32C {
			t.Errorf("crc32c(%q) = %d, want %d", v.TimerID, got, v.CRC32C)
		}
		block := shard.Block{Base: v.Base, Count: v.Count}
		got := block.Place(v.TimerID)
		if got != v.Shard {
			t.Errorf("%q in %+v is placed in %s, want %s", v.TimerID, block, got, v.Shard)
		}
		if !block.Contains(got) {
			t.Errorf("%+v does not contain %s, where it placed %q", block, got, v.TimerID)
		}
		if p := shard.PartitionOf(got, 16); p != v.Partition16 {
			t.Errorf("shard %s lies in partition %d, want %d", got, p, v.Partition16)
		}
	}
}

// TestPlaceSpreads: sequential ids in common formats must not accumulate in few shards.
func TestPlaceSpreads(t *testing.T) {
	const ids = 20_000
	for _, format := range []string{"order-%d", "%d", "user/%08d/reminder", "%x"} {
		for _, count := range []int{16, 256} {
			block := shard.Block{Base: 100, Count: count}
			load := make([]int, count)
			for i := range ids {
				load[block.Place(fmt.Sprintf(format, i))-block.Base]++
			}
			mean := float64(ids) / float64(count)
			// Six standard deviations of a uniform distribution.
			if bound := mean + 6*math.Sqrt(mean); float64(slices.Max(load)) > bound {
				t.Errorf("%s over %d shards: the fullest has %d of %d, want at most %.0f", format, count, slices.Max(load), ids, bound)
			}
		}
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		block shard.Block
		id    shard.ID
		want  bool
	}{
		{shard.Block{Base: 5, Count: 3}, 4, false},
		{shard.Block{Base: 5, Count: 3}, 5, true},
		{shard.Block{Base: 5, Count: 3}, 7, true},
		{shard.Block{Base: 5, Count: 3}, 8, false},
		{shard.Block{Base: 5}, 5, false},
		{shard.Block{Base: math.MaxUint32 - 1, Count: 2}, math.MaxUint32, true}, // the end is beyond 32 bits
		{shard.Block{Base: math.MaxUint32 - 1, Count: 2}, 0, false},
	} {
		if got := c.block.Contains(c.id); got != c.want {
			t.Errorf("%+v contains %s: %t, want %t", c.block, c.id, got, c.want)
		}
	}
}

// TestInAgainstBruteForce compares In with PartitionOf for every shard of a block.
func TestInAgainstBruteForce(t *testing.T) {
	for _, base := range []shard.ID{0, 1, 7, 15, 16, 17, 1000, math.MaxUint32 - 40} {
		for count := range 41 {
			for _, partitions := range []int{1, 2, 3, 16, 17, 100} {
				block := shard.Block{Base: base, Count: count}
				want := make([][]shard.ID, partitions)
				for i := range count {
					id := base + shard.ID(i)
					p := shard.PartitionOf(id, partitions)
					want[p] = append(want[p], id)
				}
				for p := range want {
					if got := block.In(shard.Partition(p), partitions); !slices.Equal(got, want[p]) {
						t.Fatalf("%+v in partition %d of %d: %v, want %v", block, p, partitions, got, want[p])
					}
				}
			}
		}
	}
}

func TestPartitionOf(t *testing.T) {
	for id, want := range map[shard.ID]shard.Partition{0: 0, 15: 15, 16: 0, math.MaxUint32: 15} {
		if got := shard.PartitionOf(id, 16); got != want {
			t.Errorf("shard %s lies in partition %d, want %d", id, got, want)
		}
	}
}

func TestString(t *testing.T) {
	if got := shard.ID(math.MaxUint32).String(); got != "4294967295" {
		t.Errorf("the largest shard is written %s", got)
	}
}
