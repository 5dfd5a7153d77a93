-- Schema 5: lists by status; test of disk space.
--   oldest program that can work with it: Timerbus 0.2 (schema 4); an older one lists parked timers slowly
--   up from: 4; indexes of timers and history are built, which blocks writes

-- +goose Up
INSERT INTO schema_support VALUES (5, 4, '0.2');

DROP INDEX timers_parked;
-- Nearly all timers are scheduled. Lists of scheduled timers use the key.
CREATE INDEX timers_status ON timers (status, shard_id, timer_uuid) WHERE status <> 'scheduled';
CREATE INDEX timer_history_of_dead ON timer_history (shard_id, timer_uuid, generation, attempt) WHERE outcome = 'dead';

-- The store writes rows here and removes them to test whether a full disk has space again. It is empty otherwise.
CREATE TABLE room (filler text NOT NULL);
ALTER TABLE room ALTER COLUMN filler SET STORAGE EXTERNAL;
