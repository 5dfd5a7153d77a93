-- Schema 6: a namespace has a version, for updates by compare-and-set.
--   made by, read and written by: Timerbus from 0.2
--   up from:   5; no row is rewritten
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
ALTER TABLE namespaces ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
