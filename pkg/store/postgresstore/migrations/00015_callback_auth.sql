-- Schema 15: callbacks of namespaces authenticate.
--   oldest program that can work with it: Timerbus 0.2 (schema 9). Its dispatchers send callbacks without the header
--     Authorization, so set it only after all processes are upgraded
--   up from: 14; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (15, 9, '0.2');

-- A JSON object: type, the other fields of the type, and the secret, encrypted.
ALTER TABLE namespaces ADD COLUMN callback_auth text;
