// Package outbox is the contract of an outbox: tables in a database of the user, into which the user's transactions insert
// commands. Ingest applies the commands and removes them. deploy/outbox has the SQL of the tables.
//
// # Order, and exactly once
//
// Rows get their ids before their transactions commit. So a row may become visible after rows with higher ids, and an id may
// never appear, if its transaction is rolled back. Therefore no id is ever "the last applied one": a reader takes the lowest
// ids that exist, and each row stays until it is applied.
//
// One elected reader records the ids of a batch under a number that is larger than all before, applies the batch to the store, and
// then removes the rows and records the next batch, in one transaction of the user's database. The transaction that applies rows in
// the store moves the position of the outbox: the last row has the number of the batch as its position, the row before it the number
// minus 1, and so on. After a crash in between, the next reader finds the recorded batch, and skips the rows up to the position. If
// the position has reached the number, the batch was applied, and is only removed.
//
// It imports nothing of the product, and never a driver: a service that imports it runs with any database. The subpackages
// are the databases.
package outbox
