-- Schema 3: namespaces have quotas.
--   oldest program that can work with it: Timerbus 0.2 (schema 1); it does not enforce quotas
--   up from: 2; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'max_pending') = 0,
    'ALTER TABLE namespaces ADD COLUMN max_pending BIGINT NOT NULL DEFAULT 0,
        ADD COLUMN creates_per_second BIGINT NOT NULL DEFAULT 0,
        ADD COLUMN max_payload BIGINT NOT NULL DEFAULT 0',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

INSERT IGNORE INTO schema_support VALUES (3, 1, '0.2');
