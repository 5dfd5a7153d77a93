-- Schema 5: planned times; final statuses; retention of dead timers.
--   made by, read and written by: Timerbus from 0.2
--   up from:   4; no row is rewritten
--   down to:   nothing; to go back, restore a copy of the folder
--
-- Postponements and leases move due_at. planned_at is the due_at before the first of them, and NULL in rows that were
-- not moved. leased is 1 if due_at is the end of a lease.

-- +goose Up
ALTER TABLE timers ADD COLUMN planned_at INTEGER;
ALTER TABLE timers ADD COLUMN leased INTEGER NOT NULL DEFAULT 0;
-- All columns that the gauges need of rows that were moved.
CREATE INDEX timers_moved ON timers (planned_at, due_at, leased, status) WHERE planned_at IS NOT NULL;

ALTER TABLE namespaces DROP COLUMN retry_statuses; -- all of these are retried now
ALTER TABLE namespaces ADD COLUMN final_statuses TEXT; -- '400 422'
ALTER TABLE namespaces ADD COLUMN dead_retention_ns INTEGER NOT NULL DEFAULT 2592000000000000; -- 30 days
