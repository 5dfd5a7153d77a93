-- Schema 10: namespaces select the attempts whose result events are published.
--   oldest program that can work with it: Timerbus 0.2 (schema 1). Its dispatchers publish the result event of each attempt
--   up from: 9; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- all, failures or off.
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'results') = 0,
    'ALTER TABLE namespaces ADD COLUMN results VARBINARY(16) NOT NULL DEFAULT ''all''',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

INSERT IGNORE INTO schema_support VALUES (10, 1, '0.2');
