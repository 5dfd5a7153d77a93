-- Schema 6: planned times; final statuses; a separate partition for dead timers.
--   oldest program that can work with it: Timerbus 0.2 (schema 6); an older one would lose the planned times
--   up from: 5; no row is rewritten
--
-- Postponements and leases move due_at. planned_at is the due_at before the first of them, and NULL in rows that were
-- not moved. leased is set if due_at is the end of a lease.
--
-- Dead timers are kept longer than other history, and there are few of them. In the partitions of days, they would need
-- a partition for each day of a month. So their expires_at is infinity, which has a separate partition, and they are
-- deleted row by row after dead_until. Timers that died before this schema have no dead_until, and are in the
-- partitions of days.

-- +goose Up
INSERT INTO schema_support VALUES (6, 6, '0.2');

ALTER TABLE timers
    ADD COLUMN planned_at timestamptz(3),
    ADD COLUMN leased     boolean NOT NULL DEFAULT false;
-- All columns that the gauges need of rows that were moved.
CREATE INDEX timers_moved ON timers (planned_at, due_at, leased, status) WHERE planned_at IS NOT NULL;

ALTER TABLE timer_history ADD COLUMN dead_until timestamptz(3);
CREATE TABLE timer_history_dead PARTITION OF timer_history FOR VALUES FROM ('infinity') TO (MAXVALUE)
    WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
-- Purge does not remove rows with an outbox entry.
CREATE INDEX timer_history_dead_expiry ON timer_history_dead (dead_until) WHERE marked_at IS NULL;

ALTER TABLE namespaces
    DROP COLUMN retry_statuses, -- all of these are retried now
    ADD COLUMN final_statuses text, -- '400 422'
    ADD COLUMN dead_retention_ns bigint NOT NULL DEFAULT 2592000000000000; -- 30 days
