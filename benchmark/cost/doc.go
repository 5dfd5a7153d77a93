// Command cost measures what the running service takes from DynamoDB: requests and capacity units for each timer, and
// for each hour of a shard in which nothing happens, beside the least that any design could take that keeps an ordered
// index, a history and a fence. `make bench-dynamodb` runs it on DynamoDB Local.
//
// It starts `timerbus dev` and reads its metrics; it owns nothing of the product. Read main.go (the phases), service.go
// (the process and its metrics), report.go (the table).
package main
