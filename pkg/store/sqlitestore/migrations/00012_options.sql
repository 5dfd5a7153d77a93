-- Schema 12: timers have options, and namespaces have URLs that are called when a timer is done or dead.
--   made by, read and written by: Timerbus from 0.2
--   up from:   11
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
-- Fields that few timers have, as a JSON object: method, contentType and reschedule of the request, windowMs,
-- expireMs, onDone, onDead.
ALTER TABLE timers ADD COLUMN options TEXT;
ALTER TABLE history ADD COLUMN options TEXT;

ALTER TABLE namespaces ADD COLUMN on_done TEXT;
ALTER TABLE namespaces ADD COLUMN on_dead TEXT;
