-- Schema 16: namespaces keep the payloads of done timers.
--   oldest program that can work with it: Timerbus 0.2 (schema 9). Its dispatchers do not keep payloads, and its ingests do not
--     start done timers again
--   up from: 15; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (16, 9, '0.2');

-- 0: payloads of done timers are not kept. In timer_history, NULL is a payload that is not kept, and an empty one is none.
ALTER TABLE namespaces ADD COLUMN keep_payload_ns bigint NOT NULL DEFAULT 0;
