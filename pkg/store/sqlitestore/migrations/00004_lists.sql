-- Schema 4: lists by status; is there room.
--   made by, read and written by: Timerbus from 0.2
--   up from:   3; indexes are built, which takes seconds for a million timers that are not scheduled
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
DROP INDEX timers_parked;
-- Nearly all timers are scheduled, and a list of those is served by the key.
CREATE INDEX timers_status ON timers (status, shard, uuid) WHERE status <> 'scheduled';
CREATE INDEX history_dead ON history (shard, uuid, generation, attempt) WHERE outcome = 'dead';

-- What a store writes and removes to find out whether a disk that was full has room again. It has no rows.
CREATE TABLE room (filler BLOB NOT NULL) STRICT;
