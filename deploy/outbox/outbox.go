// Package outbox contains the SQL files that create the outbox tables in a user's database. `timerbus outbox` prints them.
//
// It imports nothing of the product, and contains no other code.
package outbox

import _ "embed"

// Postgres creates the outbox in PostgreSQL.
//
//go:embed postgres.sql
var Postgres string

// MySQL creates the outbox in MySQL and MariaDB.
//
//go:embed mysql.sql
var MySQL string
