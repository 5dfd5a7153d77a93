package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The names of the checks.
const (
	checkShards  = "shards"
	checkOverdue = "overdue"
	checkParked  = "parked"
	checkDead    = "dead"
)

// TimerChecks are the names of the checks of Timers.
func TimerChecks() []string { return []string{checkShards, checkOverdue, checkParked, checkDead} }

// Cluster is the source of namespaces, shards and timers: a store, or the API of a process.
type Cluster interface {
	Namespaces(ctx context.Context) ([]string, error)
	Shards(ctx context.Context, namespace string) ([]Shard, error)
	// Count returns the number of timers with a status, at most CountLimit.
	Count(ctx context.Context, namespace string, status timer.Status) (int, error)
}

// CountLimit is the largest number of timers of a namespace that are counted: counting reads them.
const CountLimit = 1000

// Shard is the state of a shard.
type Shard struct {
	ID        shard.ID
	Partition shard.Partition
	// Held is false if no scheduler owns it.
	Held bool
	Node string
	// NextDueAt is when its earliest timer is due, or Never.
	NextDueAt timer.Millis
}

// Timers runs the checks of shards and timers. now is the present.
func Timers(ctx context.Context, l Limits, now timer.Millis, c Cluster) []Result {
	namespaces, err := within(ctx, l.Timeout, c.Namespaces)
	if err != nil {
		return append([]Result{{Check: checkShards, Status: Failed, Found: "read namespaces: " + err.Error(), Advice: slowAdvice}},
			Skip("namespaces cannot be read", TimerChecks()[1:]...)...)
	}
	return append(shards(ctx, l, now, c, namespaces),
		count(ctx, l, c, namespaces, checkParked, timer.StatusParked,
			"their deliveries ended without a result several times, probably because they end the dispatcher: read its log, "+
				"correct the cause, then `timerbus timer retry`"),
		count(ctx, l, c, namespaces, checkDead, timer.StatusDead,
			"read why with `timerbus timer list --status dead`, correct the receiver, then `timerbus timer retry`"))
}

const slowAdvice = "read the whole cluster with a longer --timeout"

func shards(ctx context.Context, l Limits, now timer.Millis, c Cluster, namespaces []string) []Result {
	type state struct {
		all, unowned int
		partitions   map[shard.Partition]bool
		oldest       Shard
		namespace    string
	}
	read, err := within(ctx, l.Timeout, func(ctx context.Context) (state, error) {
		s := state{partitions: map[shard.Partition]bool{}, oldest: Shard{NextDueAt: timer.Never}}
		for _, ns := range namespaces {
			all, err := c.Shards(ctx, ns)
			if err != nil {
				return s, fmt.Errorf("read shards of namespace %s: %w", ns, err)
			}
			for _, one := range all {
				s.all++
				if !one.Held {
					s.unowned++
					s.partitions[one.Partition] = true
				}
				if one.NextDueAt < s.oldest.NextDueAt {
					s.oldest, s.namespace = one, ns
				}
			}
		}
		return s, nil
	})
	if err != nil {
		return append([]Result{{Check: checkShards, Status: Failed, Found: err.Error(), Advice: slowAdvice}},
			Skip("shards cannot be read", checkOverdue)...)
	}
	owned := Result{Check: checkShards, Status: OK, Found: fmt.Sprintf("%d, each with an owner", read.all)}
	if read.unowned > 0 {
		owned.Status = Failed
		owned.Found = fmt.Sprintf("%d of %d have no owner, in partitions %s", read.unowned, read.all, partitionList(read.partitions))
		owned.Advice = "start a scheduler, or read the log of the running ones; shards of a new namespace get an owner within half a minute"
	}
	late := Result{Check: checkOverdue, Status: OK, Found: "no timer is overdue"}
	if overdue := now.Sub(read.oldest.NextDueAt); read.oldest.NextDueAt != timer.Never && overdue > 0 {
		late.Found = fmt.Sprintf("the oldest timer is overdue by %v", overdue.Round(time.Millisecond))
		if overdue > l.Overdue {
			late.Status = Failed
			late.Found += fmt.Sprintf(", in shard %d of namespace %s, partition %d, node %s",
				read.oldest.ID, read.namespace, read.oldest.Partition, nodeName(&read.oldest))
			late.Advice = "check that a scheduler owns the shard (its node may be dead), that dispatchers are ready, and that " +
				"the bus works; `timerbus shard list --overdue 5s` shows all such shards"
		}
	}
	return []Result{owned, late}
}

func nodeName(s *Shard) string {
	if !s.Held || s.Node == "" {
		return "-"
	}
	return s.Node
}

func partitionList(set map[shard.Partition]bool) string {
	const most = 8
	var text []string
	for i, p := range slices.Sorted(maps.Keys(set)) {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(text, ", "), len(set)-most)
		}
		text = append(text, fmt.Sprint(p))
	}
	return strings.Join(text, ", ")
}

// count counts timers with a status that needs attention.
func count(ctx context.Context, l Limits, c Cluster, namespaces []string, name string, status timer.Status, advice string) Result {
	type counted struct {
		timers    int
		truncated bool
		where     []string
	}
	read, err := within(ctx, l.Timeout, func(ctx context.Context) (counted, error) {
		var all counted
		for _, ns := range namespaces {
			n, err := c.Count(ctx, ns, status)
			if err != nil {
				return all, fmt.Errorf("count %s timers of namespace %s: %w", status, ns, err)
			}
			if n > 0 {
				all.timers += n
				all.truncated = all.truncated || n >= CountLimit
				all.where = append(all.where, ns)
			}
		}
		return all, nil
	})
	if err != nil {
		return Result{Check: name, Status: Failed, Found: err.Error(), Advice: slowAdvice}
	}
	if read.timers == 0 {
		return Result{Check: name, Status: OK, Found: "none"}
	}
	found := fmt.Sprint(read.timers)
	if read.truncated {
		found = "at least " + found
	}
	const most = 5
	where := strings.Join(read.where[:min(most, len(read.where))], ", ")
	if more := len(read.where) - most; more > 0 {
		where += fmt.Sprintf(" and %d more", more)
	}
	return Result{Check: name, Status: Warning, Found: fmt.Sprintf("%s, in namespaces %s", found, where), Advice: advice}
}

// storeCluster reads a store.
type storeCluster struct {
	store      store.Store
	partitions int
	now        timer.Clock

	read map[string]store.Namespace // those that Namespaces has returned
}

func (s *storeCluster) Namespaces(ctx context.Context) (names []string, err error) {
	s.read = map[string]store.Namespace{}
	for ns, err := range store.AllNamespaces(ctx, s.store) {
		if err != nil {
			return nil, err
		}
		s.read[ns.Name] = ns
		names = append(names, ns.Name)
	}
	return names, nil
}

func (s *storeCluster) Shards(ctx context.Context, namespace string) ([]Shard, error) {
	block := s.read[namespace].Shards
	states, err := s.store.Inspect(ctx, block.In(0, 1))
	if err != nil {
		return nil, err
	}
	out := make([]Shard, len(states))
	for i := range states {
		out[i] = Shard{
			ID: states[i].Shard, Partition: shard.PartitionOf(states[i].Shard, s.partitions), Held: states[i].Held,
			Node: states[i].Owner.Node, NextDueAt: states[i].NextDueAt,
		}
	}
	return out, nil
}

func (s *storeCluster) Count(ctx context.Context, namespace string, status timer.Status) (n int, err error) {
	query := store.ListQuery{Namespace: s.read[namespace], Status: status, Limit: CountLimit, WithoutPayloads: true}
	for n < CountLimit {
		page, err := s.store.List(ctx, s.now(), query)
		if err != nil {
			return n, err
		}
		n += len(page.Timers)
		if query.After = page.Next; len(page.Next) == 0 {
			return n, nil
		}
	}
	return CountLimit, nil
}
