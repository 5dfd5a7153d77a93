package assign_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/internal/bus/assign"
)

func members(n int) []string {
	var m []string
	for i := range n {
		m = append(m, fmt.Sprintf("member-%d", i))
	}
	return m
}

func TestEveryPartitionHasAnOwnerAndSharesAreEven(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for _, partitions := range []int{1, 2, 7, 16, 64} {
			load := map[string]int{}
			for _, owner := range assign.Owners("g", members(n), partitions) {
				load[owner]++
			}
			for _, m := range members(n) {
				if load[m] < partitions/n || load[m] > (partitions+n-1)/n {
					t.Errorf("%d partitions, %d members: %s has %d", partitions, n, m, load[m])
				}
			}
		}
	}
	if assign.Owners("g", nil, 4) != nil {
		t.Error("owners without members")
	}
}

func TestOrderAndRepetitionDoNotMatter(t *testing.T) {
	given := members(5)
	want := assign.Owners("g", given, 16)
	slices.Reverse(given)
	for _, repeated := range [][]string{given, given[:1], given[2:4]} { // one member alone must not get a larger share
		if got := assign.Owners("g", append(slices.Clone(given), repeated...), 16); !slices.Equal(got, want) {
			t.Errorf("%v twice: got %v, want %v", repeated, got, want)
		}
	}
	if given[0] != "member-4" {
		t.Error("the caller's slice was sorted")
	}
}

// TestFewPartitionsMove bounds how many partitions move when a member joins: its own share, and a few that the quota
// moves.
func TestFewPartitionsMove(t *testing.T) {
	for n := 1; n < 12; n++ {
		before, after := assign.Owners("g", members(n), 256), assign.Owners("g", members(n+1), 256)
		moved := 0
		for p := range before {
			if before[p] != after[p] {
				moved++
			}
		}
		if share := 256 / (n + 1); moved > 2*share+8 {
			t.Errorf("from %d to %d members %d of 256 partitions move, the share is %d", n, n+1, moved, share)
		}
	}
}

func TestSaltSpreadsTheExtras(t *testing.T) {
	first := map[string]bool{}
	for i := range 20 {
		first[assign.Owners(fmt.Sprint(i), members(4), 1)[0]] = true
	}
	if len(first) < 3 {
		t.Errorf("20 groups of one partition fall to %d of 4 members", len(first))
	}
}
