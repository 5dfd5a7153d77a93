// Package dynamostore is the store in Amazon DynamoDB: there is no server to run, and the cost depends on the work.
//
// It owns the two tables, their items, and every request. It may import pkg/store, pkg/timer, pkg/shard, the AWS SDK
// and Prometheus's client. It reads no clock (Time returns the time in an answer of the service), never generates a
// revision, never checks a claim with a read before a write, never deletes by a range, and translates every error of
// the SDK.
//
// A shard is one item collection of the table: its record at `s#`, its timers at `t#<uuid>`. The local index `due`
// orders the timers by (due_at, uuid). It contains only timers that are not parked, because the record and parked
// timers do not have the attribute by which it sorts (decision 0013). History is in a separate table, so that it does
// not count for the collection's limit of 10 GB. Each item is written by one conditional request. If a timer and its
// history change together, they are written in one transaction.
//
// Read keys.go first (the keys of the items), then item.go and rows.go (the attributes), request.go, batch.go and
// errors.go (requests, retries and the translation of errors), store.go, options.go, client.go, schema.go, check.go.
// Then the contract, part by part: write.go and occupy.go, get.go, list.go and cursor.go; shards.go, due.go with
// read.go, overdue.go, inspect.go, outbox.go; current.go, finish.go with move.go and history.go, rearm.go;
// namespaces.go, cluster.go. observe.go and metrics.go have the metrics for operators.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The other methods follow pkg/store.
package dynamostore
