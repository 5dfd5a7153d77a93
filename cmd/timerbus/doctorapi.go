package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/timerbus/timerbus/internal/doctor"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// ask examines a process by its HTTP API.
func (e *examination) ask(ctx context.Context, o *doctor.Options) []doctor.Result {
	address := e.address()
	connection, err := ownClient(&e.config)
	if err != nil {
		return []doctor.Result{{
			Check: doctor.CheckStore, Status: doctor.Failed, Found: err.Error(), Advice: "correct tls-cert and tls-key",
		}}
	}
	results := e.readiness(ctx, connection, address)
	const why = "a process uses the database; its readiness includes a free disk and its clock"
	results = append(results, doctor.Skip(why, doctor.StoreChecks()...)...)
	results = append(results, doctor.Bus(ctx, o, o.Partitions, true)...)
	c, err := client.New(address, client.WithToken(e.config.Token), client.WithHTTPClient(connection),
		client.WithUserAgent("timerbus-doctor/"+version))
	if err != nil {
		return append(results, doctor.Skip(err.Error(), doctor.TimerChecks()...)...)
	}
	return append(results, doctor.Timers(ctx, e.limits, timer.SystemClock(), apiCluster{c})...)
}

// readiness reads /readyz.
func (e *examination) readiness(ctx context.Context, c *http.Client, address string) []doctor.Result {
	const via = "a process uses the data folder: asked its API at "
	ctx, cancel := context.WithTimeout(ctx, e.limits.Timeout)
	defer cancel()
	base, err := url.Parse(address)
	if err != nil {
		return []doctor.Result{{Check: doctor.CheckStore, Status: doctor.Failed, Found: err.Error(), Advice: "correct --url"}}
	}
	health, _, err := readHealth(ctx, c, base)
	if err != nil {
		return []doctor.Result{{
			Check: doctor.CheckStore, Status: doctor.Failed, Found: via + address + ": " + err.Error(),
			Advice: "set --url to the address of that process, or stop it and run this command again",
		}}
	}
	result := doctor.Result{Check: doctor.CheckStore, Status: doctor.OK, Found: via + address + ", which is ready"}
	var degraded []string
	for _, part := range health.Degraded {
		degraded = append(degraded, part.Part+": "+part.Reason)
	}
	switch {
	case len(health.Reasons) > 0:
		result.Status, result.Found = doctor.Failed, via+address+", which is not ready: "+strings.Join(health.Reasons, "; ")
		result.Advice = "read the log of the process; it names the cause"
	case len(degraded) > 0:
		result.Status, result.Found = doctor.Failed, via+address+", which is degraded: "+strings.Join(degraded, "; ")
		result.Advice = "read the log of the process; timers are stored meanwhile"
	}
	return []doctor.Result{result}
}

// apiCluster is a doctor.Cluster.
type apiCluster struct{ client *client.Client }

func (a apiCluster) Namespaces(ctx context.Context) ([]string, error) {
	all, err := a.client.ListNamespaces(ctx)
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names, err
}

func (a apiCluster) Shards(ctx context.Context, namespace string) ([]doctor.Shard, error) {
	all, err := a.client.ListShards(ctx, namespace)
	shards := make([]doctor.Shard, len(all))
	for i := range all {
		shards[i] = doctor.Shard{
			ID: shard.ID(all[i].Shard), Partition: shard.Partition(all[i].Partition), Held: all[i].Held, Node: all[i].Node,
			NextDueAt: timer.Never,
		}
		if at := all[i].NextDueAt; !at.IsZero() {
			shards[i].NextDueAt = timer.FromTime(at.Time)
		}
	}
	return shards, err
}

func (a apiCluster) Count(ctx context.Context, namespace string, status timer.Status) (n int, err error) {
	request := client.ListTimersRequest{Namespace: namespace, Status: api.Status(status), Limit: doctor.CountLimit}
	for _, err := range a.client.AllTimers(ctx, request) {
		if err != nil {
			return n, err
		}
		if n++; n == doctor.CountLimit {
			break
		}
	}
	return n, nil
}
