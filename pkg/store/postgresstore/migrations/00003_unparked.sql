-- Schema 3: parked timers do not slow down polls.
--   oldest program that can work with it: Timerbus 0.2 (schema 3); an older one would look rows up slowly
--   up from: 2; indexes of live timers are rebuilt, which blocks writes
--
-- A sweep starts at the beginning of a shard and would read every parked row each time. So the index in whose order a
-- shard is read contains only rows that are not parked, and the uuid is in the primary key.

-- +goose Up
INSERT INTO schema_support VALUES (3, 3, '0.2');

ALTER TABLE timers DROP CONSTRAINT timers_pkey;
ALTER TABLE timers DROP CONSTRAINT timers_shard_id_timer_uuid_key;
ALTER TABLE timers ADD PRIMARY KEY (shard_id, timer_uuid);
CREATE INDEX timers_due ON timers (shard_id, due_at, timer_uuid) WHERE status <> 'parked';

-- Rows without a day's partition are deleted row by row.
ALTER TABLE timer_history_default SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0);
