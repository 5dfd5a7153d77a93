-- Schema 7: namespaces keep the payloads of done timers.
--   oldest program that can work with it: Timerbus 0.2 (schema 1). Its dispatchers do not keep payloads, and its ingests do not
--     start done timers again
--   up from: 6; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- 0: payloads of done timers are not kept. In history, NULL is a payload that is not kept, and an empty one is none.
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'keep_payload_ns') = 0,
    'ALTER TABLE namespaces ADD COLUMN keep_payload_ns BIGINT NOT NULL DEFAULT 0',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

INSERT IGNORE INTO schema_support VALUES (7, 1, '0.2');
