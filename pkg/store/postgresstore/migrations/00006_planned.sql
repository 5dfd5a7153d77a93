-- Schema 6: when attempts were planned; which answers are final; dead timers are kept apart.
--   oldest program that can work with it: Timerbus 0.2 (schema 6); an older one would lose the planned times
--   up from: 5; no row is written anew
--
-- Postponements and leases move due_at; planned_at has what it was before the first of them, and is NULL in rows
-- that were not moved. leased: due_at is the end of a lease.
--
-- Dead timers are kept for longer than other history, and are few. So no day holds them, or there would be a partition
-- for each day of a month: they expire at infinity, which is a partition of their own, and are removed row by row once
-- dead_until has come. Those that died before this schema have no dead_until, and lie in the days.

-- +goose Up
INSERT INTO schema_support VALUES (6, 6, '0.2');

ALTER TABLE timers
    ADD COLUMN planned_at timestamptz(3),
    ADD COLUMN leased     boolean NOT NULL DEFAULT false;
-- All that the gauges ask of rows that were moved.
CREATE INDEX timers_moved ON timers (planned_at, due_at, leased, status) WHERE planned_at IS NOT NULL;

ALTER TABLE timer_history ADD COLUMN dead_until timestamptz(3);
CREATE TABLE timer_history_dead PARTITION OF timer_history FOR VALUES FROM ('infinity') TO (MAXVALUE)
    WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
-- Purge passes over what is still marked.
CREATE INDEX timer_history_dead_expiry ON timer_history_dead (dead_until) WHERE marked_at IS NULL;

ALTER TABLE namespaces
    DROP COLUMN retry_statuses, -- all of them are retried now
    ADD COLUMN final_statuses text, -- '400 422'
    ADD COLUMN dead_retention_ns bigint NOT NULL DEFAULT 2592000000000000; -- 30 days
