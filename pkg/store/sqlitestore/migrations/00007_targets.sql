-- Schema 7: timers have targets.
--   made by, read and written by: Timerbus from 0.2
--   up from:   6; no row is rewritten
--   down to:   nothing; to go back, restore a copy of the folder
--
-- The target identifies the host or the topic that a timer calls. Polls return it. It is computed when a row is
-- written, because computing it from the URL in a poll makes polls a third slower. 0: no target, or an unknown one.

-- +goose Up
ALTER TABLE timers ADD COLUMN target INTEGER NOT NULL DEFAULT 0;
