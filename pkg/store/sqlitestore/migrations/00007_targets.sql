-- Schema 7: timers have targets.
--   made by, read and written by: Timerbus from 0.2
--   up from:   6; no row is rewritten
--   down to:   nothing; to go back, restore a copy of the folder
--
-- The target identifies the host or the topic that a timer calls; polls return it. It is computed when a row is written:
-- to compute it in a poll, from the URL, makes polls a third slower. 0 is no target, or one that is not known.

-- +goose Up
ALTER TABLE timers ADD COLUMN target INTEGER NOT NULL DEFAULT 0;
