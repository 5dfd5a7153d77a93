-- Schema 6: callbacks of namespaces authenticate.
--   oldest program that can work with it: Timerbus 0.2 (schema 1). Its dispatchers send callbacks without the header
--     Authorization, so set it only after all processes are upgraded
--   up from: 5; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- A JSON object: type, the other fields of the type, and the secret, encrypted.
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'callback_auth') = 0,
    'ALTER TABLE namespaces ADD COLUMN callback_auth MEDIUMBLOB',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

INSERT IGNORE INTO schema_support VALUES (6, 1, '0.2');
