-- Schema 3: parked timers stand in no poll's way.
--   oldest program that can work with it: Timerbus 0.2 (schema 3); an older one would look rows up slowly
--   up from: 2; indexes of live timers are built anew, during which nothing is written
--
-- A sweep starts at the beginning of a shard and would pass over every parked row there is, again and again.
-- So the order in which a shard is read holds only what is not parked, and the uuid is the primary key.

-- +goose Up
INSERT INTO schema_support VALUES (3, 3, '0.2');

ALTER TABLE timers DROP CONSTRAINT timers_pkey;
ALTER TABLE timers DROP CONSTRAINT timers_shard_id_timer_uuid_key;
ALTER TABLE timers ADD PRIMARY KEY (shard_id, timer_uuid);
CREATE INDEX timers_due ON timers (shard_id, due_at, timer_uuid) WHERE status <> 'parked';

-- What has no day comes and goes row by row.
ALTER TABLE timer_history_default SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0);
