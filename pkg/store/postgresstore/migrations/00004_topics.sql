-- Schema 4: events that go to user topics.
--   oldest program that can work with it: Timerbus 0.2 (schema 4); an older one would publish to the common topic
--   up from: 3; no row is rewritten
--
-- Columns that are not set are NULL.

-- +goose Up
INSERT INTO schema_support VALUES (4, 4, '0.2');

ALTER TABLE timers
    ADD COLUMN topic     text,
    ADD COLUMN event_key text;
ALTER TABLE timer_history
    ADD COLUMN topic     text,
    ADD COLUMN event_key text;

ALTER TABLE namespaces ADD COLUMN event_topics text; -- patterns, separated by blanks
