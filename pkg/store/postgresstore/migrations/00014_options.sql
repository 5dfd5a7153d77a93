-- Schema 14: timers have options, and namespaces have URLs that are called when a timer is done or dead.
--   oldest program that can work with it: Timerbus 0.2 (schema 9). It ignores options: it calls a timer with a request as if it
--     had none, and keeps the options of a timer that it replaces. So use them only after all processes are upgraded
--   up from: 13; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (14, 9, '0.2');

-- Fields that few timers have, as a JSON object: method, contentType and reschedule of the request, windowMs,
-- expireMs, onDone, onDead.
ALTER TABLE timers ADD COLUMN options text;
ALTER TABLE timer_history ADD COLUMN options text;

ALTER TABLE namespaces ADD COLUMN on_done text;
ALTER TABLE namespaces ADD COLUMN on_dead text;
