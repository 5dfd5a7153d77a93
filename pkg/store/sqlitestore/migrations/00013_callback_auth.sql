-- Schema 13: callbacks of namespaces authenticate.
--   made by, read and written by: Timerbus from 0.2
--   up from:   12
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
-- A JSON object: type, the other fields of the type, and the secret, encrypted.
ALTER TABLE namespaces ADD COLUMN callback_auth TEXT;
