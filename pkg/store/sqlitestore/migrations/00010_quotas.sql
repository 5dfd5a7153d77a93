-- Schema 10: namespaces have quotas.
--   made by, read and written by: Timerbus from 0.2
--   up from:   9
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
ALTER TABLE namespaces ADD COLUMN max_pending INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN creates_per_second INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN max_payload INTEGER NOT NULL DEFAULT 0; -- bytes
