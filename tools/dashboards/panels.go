package main

import "fmt"

// Units of Grafana.
const (
	seconds   = "s"
	bytes     = "bytes"
	perSecond = "ops"
	count     = "short"
)

// quantiles are queries of three quantiles of a histogram over all series.
func quantiles(metric string) []query {
	var all []query
	for _, q := range []string{"0.5", "0.99", "0.999"} {
		all = append(all, query{
			fmt.Sprintf("histogram_quantile(%s, sum by (le) (rate(%s_bucket[$__rate_interval])))", q, metric), "quantile " + q,
		})
	}
	return all
}

// p99 is the 99th percentile for each value of a label.
func p99(metric, label string) []query {
	return []query{{
		fmt.Sprintf("histogram_quantile(0.99, sum by (le, %s) (rate(%s_bucket[$__rate_interval])))", label, metric), "{{" + label + "}}",
	}}
}

// rate is the rate of a counter, summed over the processes, for each value of a label.
func rate(metric, label string) []query {
	if label == "" {
		return []query{{fmt.Sprintf("sum(rate(%s[$__rate_interval]))", metric), "all"}}
	}
	return []query{{fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval]))", label, metric), "{{" + label + "}}"}}
}

// cluster is a gauge of the whole cluster, which several processes export.
func cluster(metric, legend string) query { return query{"max(" + metric + ")", legend} }

// instances is a gauge for each process.
func instances(metric string) []query {
	return []query{{"sum by (instance) (" + metric + ")", "{{instance}}"}}
}

func number(title, unit string, q query) panel {
	return panel{title: title, unit: unit, number: true, queries: []query{q}}
}

func graph(title, unit, description string, queries ...query) panel {
	return panel{title: title, unit: unit, description: description, queries: queries}
}

var rows = []row{
	{"Cluster", []panel{
		number("Pending timers", count, cluster("timerbus_timers_pending", "pending")),
		number("Overdue timers", count, cluster("timerbus_timers_overdue", "overdue")),
		number("Oldest overdue timer", seconds, cluster("timerbus_timers_oldest_overdue_seconds", "oldest")),
		number("Parked timers", count, cluster("timerbus_timers_parked", "parked")),
		number("Paused timers", count, cluster("timerbus_timers_paused", "paused")),
		number("Dead timers", count, cluster("timerbus_timers_dead", "dead")),
		number("Timers that died in 24 h", count, query{"sum(increase(timerbus_dispatcher_dead_total[24h]))", "dead"}),
		number("Processes", count, query{"count(timerbus_build_info)", "processes"}),
	}},
	{"Deliveries", []panel{
		graph("Fires", perSecond, "Attempts by outcome.", rate("timerbus_dispatcher_fires_total", "outcome")...),
		graph("Lateness", seconds, "From the planned time to the start of an attempt.",
			quantiles("timerbus_dispatcher_lateness_seconds")...),
		graph("Lateness by namespace, p99", seconds, "Namespaces beyond --metrics-namespaces are other.",
			p99("timerbus_dispatcher_lateness_seconds", "namespace")...),
		graph("Callbacks by result", perSecond, "failed: no connection or no complete answer. not_sent: refused by the egress policy.",
			rate("timerbus_dispatcher_callbacks_total", "result")...),
		graph("Callback duration by namespace, p99", seconds, "", p99("timerbus_dispatcher_callback_seconds", "namespace")...),
		graph("Hosts", count, "open: hosts that do not answer; their timers are postponed.",
			query{"sum by (state) (timerbus_dispatcher_hosts)", "{{state}}"}),
		graph("Retries and postponements", perSecond, "",
			query{"sum(rate(timerbus_dispatcher_retries_total[$__rate_interval]))", "retries"},
			query{"sum(rate(timerbus_dispatcher_postponed_total[$__rate_interval]))", "postponements"}),
		graph("Dead and parked", count, "Timers that became dead or parked.",
			query{"sum(increase(timerbus_dispatcher_dead_total[$__rate_interval]))", "dead"},
			query{"sum(increase(timerbus_dispatcher_parked_total[$__rate_interval]))", "parked"}),
		graph("Deliveries in flight", count, "", instances("timerbus_dispatcher_in_flight")...),
	}},
	{"Backlog", []panel{
		graph("Overdue timers", count, "", cluster("timerbus_timers_overdue", "overdue")),
		graph("Oldest overdue timer", seconds, "", cluster("timerbus_timers_oldest_overdue_seconds", "oldest")),
		graph("Due events in flight", count, "Published and not acknowledged.", instances("timerbus_scheduler_in_flight")...),
		graph("Topic commands not applied", count, "", cluster("timerbus_ingest_commands_backlog", "commands")),
		graph("Operations that wait for the store", count, "", instances("timerbus_ingest_queue_operations")...),
		graph("Armed timers", count, "In memory until their due time.", instances("timerbus_scheduler_armed")...),
	}},
	{"Shards", []panel{
		graph("Shards by scheduler", count, "", instances("timerbus_scheduler_shards")...),
		graph("Partitions by scheduler", count, "", instances("timerbus_scheduler_partitions")...),
		graph("Hottest shards", count, "Due events in a minute.",
			query{"topk(10, timerbus_scheduler_hottest_shard_events)", "{{namespace}} {{shard}}"}),
		graph("Due events published", perSecond, "", rate("timerbus_scheduler_published_total", "")...),
		graph("Time from due to published", seconds, "", quantiles("timerbus_scheduler_publish_lateness_seconds")...),
		graph("Claims", perSecond, "Shards claimed, and shards lost to a newer claim.",
			query{"sum(rate(timerbus_scheduler_claims_total[$__rate_interval]))", "claimed"},
			query{"sum(rate(timerbus_scheduler_fenced_total[$__rate_interval]))", "lost"}),
	}},
	{"Store and bus", []panel{
		graph("Store calls, p99", seconds, "", p99("timerbus_store_call_seconds", "call")...),
		graph("Writes of the API", seconds, "", quantiles("timerbus_ingest_commit_seconds")...),
		graph("Publishes, p99", seconds, "", p99("timerbus_bus_publish_seconds", "topic")...),
		graph("Failed calls", perSecond, "Calls of the store and the bus. Empty if none failed.",
			query{"sum by (operation) (rate(timerbus_scheduler_failures_total[$__rate_interval]))", "scheduler: {{operation}}"},
			query{"sum by (operation) (rate(timerbus_dispatcher_failures_total[$__rate_interval]))", "dispatcher: {{operation}}"}),
		graph("Clock", seconds, "0.125 and more: the clock is not trusted.",
			query{"max(timerbus_clock_error_seconds)", "largest error"}, query{"max(timerbus_clock_read_seconds)", "slowest read"}),
		graph("Age of the gauges", seconds, "", cluster("timerbus_gauges_age_seconds", "age")),
	}},
	{"API", []panel{
		graph("Requests", perSecond, "", rate("timerbus_ingest_requests_total", "code")...),
		graph("Requests, p99", seconds, "", p99("timerbus_ingest_request_seconds", "route")...),
		graph("Topic commands", perSecond, "", rate("timerbus_ingest_commands_total", "result")...),
	}},
	{"Processes", []panel{
		graph("Processors", count, "", query{"rate(process_cpu_seconds_total{job=~\"timerbus.*\"}[$__rate_interval])", "{{instance}}"}),
		graph("Memory", bytes, "", query{"process_resident_memory_bytes{job=~\"timerbus.*\"}", "{{instance}}"}),
		graph("Goroutines", count, "", query{"go_goroutines{job=~\"timerbus.*\"}", "{{instance}}"}),
	}},
}
