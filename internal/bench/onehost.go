package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// manyHosts is the number of hosts of the first backlog of the phase hosts.
	manyHosts = 45
	// oneHostLimit is the host concurrency of the namespace, and so the number of concurrent callbacks to the one host
	// of the second backlog.
	oneHostLimit = 512
	// oneHostTakes is how long that host takes to answer.
	oneHostTakes = time.Millisecond
)

// hostsPhase measures the delivery rate of a backlog over many hosts, and of a backlog to one host that takes
// oneHostTakes to answer.
func (r *run) hostsPhase(ctx context.Context, f *figures) (err error) {
	addresses, err := r.openHosts(ctx, manyHosts+1, oneHostTakes)
	if err != nil {
		return err
	}
	defer func() {
		_, closing := r.openHosts(context.WithoutCancel(ctx), 0, 0)
		err = errors.Join(err, closing)
	}()
	many, one := addresses[:manyHosts], addresses[manyHosts]+slowPath
	for i := range many {
		many[i] += FirePath
	}
	namespace := r.Namespace + "-hosts"
	if err := r.namespace(ctx, namespace, r.Shards, fmt.Sprintf(`{"hostConcurrency":%d}`, oneHostLimit)); err != nil {
		return err
	}
	spread, err := r.fireAtOnce(ctx, "hosts-many", namespace, many)
	if err != nil {
		return err
	}
	single, err := r.fireAtOnce(ctx, "hosts-one", namespace, []string{one})
	if err != nil {
		return err
	}
	f.add("many", fmt.Sprintf("fires until their outcomes are written, %d hosts", manyHosts), PerSecond, spread.rate)
	f.add("many_reads", fmt.Sprintf("hosts: rows read for each fire, %d hosts", manyHosts), Count, spread.reads)
	f.add("one", fmt.Sprintf("the same to one host that takes %v, %d at a time", oneHostTakes, oneHostLimit), PerSecond, single.rate)
	f.add("one_reads", "hosts: rows read for each fire, one host", Count, single.reads)
	f.add("ratio", "hosts: fires/s to one host to fires/s over many", Count, single.rate/spread.rate)
	f.add("one_cpu", "hosts: CPU of the service, one host", CPUSeconds, single.cost.service*10_000/float64(single.count))
	f.addCost(fmt.Sprintf("fires over %d hosts", manyHosts), spread.cost, spread.count)
	f.add("early", "hosts: early callbacks", Count, float64(spread.report.Early+single.report.Early))
	f.add("duplicates", "hosts: duplicate callbacks", Count, float64(spread.report.Duplicates+single.report.Duplicates))
	return nil
}
