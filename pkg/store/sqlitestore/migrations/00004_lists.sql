-- Schema 4: lists by status; test of disk space.
--   made by, read and written by: Timerbus from 0.2
--   up from:   3; indexes are built, which takes seconds for a million timers that are not scheduled
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
DROP INDEX timers_parked;
-- Nearly all timers are scheduled. Lists of scheduled timers use the key.
CREATE INDEX timers_status ON timers (status, shard, uuid) WHERE status <> 'scheduled';
CREATE INDEX history_dead ON history (shard, uuid, generation, attempt) WHERE outcome = 'dead';

-- The store writes rows here and removes them to test whether a full disk has space again. It is empty otherwise.
CREATE TABLE room (filler BLOB NOT NULL) STRICT;
