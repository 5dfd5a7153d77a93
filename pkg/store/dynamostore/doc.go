// Package dynamostore is the store in Amazon DynamoDB: no server to run, and a bill that follows the work.
//
// It owns the two tables, how timers lie in them, and every request. It may import pkg/store, pkg/timer,
// pkg/shard, the AWS SDK and Prometheus's client. It never reads a clock (Ping tells what the service's answer
// tells), never makes a revision, never fences by a read before a write, never removes by a range, and never lets
// an error of the SDK out untranslated.
//
// A shard is one item collection of the table: its record at `s#`, its timers at `t#<uuid>`. The local
// index `due` orders the timers by (due_at, uuid) and holds nothing else, because the attribute it sorts by
// is absent on the record and on parked timers (decision 0013). History lies in a table of its own, out of
// the reach of the collection's limit of 10 GB. Each item is written by one conditional request; where a
// timer and its history move together they are one transaction.
//
// Read keys.go first (where things lie), then item.go and rows.go (how they are written), request.go,
// batch.go and errors.go (asking, and what a failure means for the caller), store.go, options.go, client.go, schema.go,
// check.go. Then the contract, part by part: write.go and occupy.go, get.go, list.go and cursor.go;
// shards.go, due.go with read.go, overdue.go, inspect.go, notices.go; current.go, finish.go with move.go
// and history.go, rearm.go; namespaces.go, cluster.go. observe.go and metrics.go are what operators see.
package dynamostore
