-- Schema 3: events that go to topics of users' own.
--   made by, read and written by: Timerbus from 0.2
--   up from:   2; no row is written anew
--   down to:   nothing; to go back, restore a copy of the folder
--
-- Everything is NULL where it is not set.

-- +goose Up
ALTER TABLE timers ADD COLUMN topic TEXT;
ALTER TABLE timers ADD COLUMN event_key TEXT;
ALTER TABLE history ADD COLUMN topic TEXT;
ALTER TABLE history ADD COLUMN event_key TEXT;

ALTER TABLE namespaces ADD COLUMN event_topics TEXT; -- patterns, with a blank between them
