-- Schema 9: namespaces record the version of the time zone database with which their local times were checked.
--   oldest program that can work with it: Timerbus 0.2 (schema 1). It does not keep the local times of timers that it changes, so use
--     them only after all processes are upgraded
--   up from: 8; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- NULL: not checked yet.
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'zone_version') = 0,
    'ALTER TABLE namespaces ADD COLUMN zone_version VARBINARY(64)',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

INSERT IGNORE INTO schema_support VALUES (9, 1, '0.2');
