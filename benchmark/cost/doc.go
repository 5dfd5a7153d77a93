// Command cost measures the service's use of DynamoDB: requests and capacity units for each timer, and for each hour of
// an idle shard. It compares them with the minimum of any design that keeps an ordered index, a history and a fence.
// `make bench-dynamodb` runs it on DynamoDB Local.
//
// It starts `timerbus dev` and reads its metrics; it imports nothing of the service. Read main.go (the phases),
// service.go (the process and its metrics), report.go (the table).
package main
