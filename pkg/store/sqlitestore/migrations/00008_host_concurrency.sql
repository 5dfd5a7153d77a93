-- Schema 8: namespaces limit the concurrent callbacks to one host.
--   made by, read and written by: Timerbus from 0.2
--   up from:   7
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
ALTER TABLE namespaces ADD COLUMN host_concurrency INTEGER NOT NULL DEFAULT 64;
