-- Schema 5: lists by status; is there room.
--   oldest program that can work with it: Timerbus 0.2 (schema 4); an older one lists parked timers slowly
--   up from: 4; indexes of timers and history are built, during which nothing is written

-- +goose Up
INSERT INTO schema_support VALUES (5, 4, '0.2');

DROP INDEX timers_parked;
-- Nearly all timers are scheduled, and a list of those is served by the key.
CREATE INDEX timers_status ON timers (status, shard_id, timer_uuid) WHERE status <> 'scheduled';
CREATE INDEX timer_history_of_dead ON timer_history (shard_id, timer_uuid, generation, attempt) WHERE outcome = 'dead';

-- What a store writes and removes to find out whether a disk that was full has room again. It has no rows.
CREATE TABLE room (filler text NOT NULL);
ALTER TABLE room ALTER COLUMN filler SET STORAGE EXTERNAL;
