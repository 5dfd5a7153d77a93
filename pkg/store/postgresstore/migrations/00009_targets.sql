-- Schema 9: timers have targets.
--   oldest program that can work with it: Timerbus 0.2 (schema 9); an update by an older one would keep the old target
--   up from: 8; no row is rewritten
--
-- The target identifies the host or the topic that a timer calls. Polls return it. It is computed when a row is
-- written, because computing it from the URL in a poll makes polls a third slower. 0: no target, or an unknown one.

-- +goose Up
INSERT INTO schema_support VALUES (9, 9, '0.2');

ALTER TABLE timers ADD COLUMN target bigint NOT NULL DEFAULT 0;
