-- Schema 3: events that go to user topics.
--   made by, read and written by: Timerbus from 0.2
--   up from:   2; no row is rewritten
--   down to:   nothing; to go back, restore a copy of the folder
--
-- Columns that are not set are NULL.

-- +goose Up
ALTER TABLE timers ADD COLUMN topic TEXT;
ALTER TABLE timers ADD COLUMN event_key TEXT;
ALTER TABLE history ADD COLUMN topic TEXT;
ALTER TABLE history ADD COLUMN event_key TEXT;

ALTER TABLE namespaces ADD COLUMN event_topics TEXT; -- patterns, separated by blanks
