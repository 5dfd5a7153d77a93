-- Schema 16: namespaces record the version of the time zone database with which their local times were checked.
--   made by, read and written by: Timerbus from 0.2
--   up from:   15
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
ALTER TABLE namespaces ADD COLUMN zone_version TEXT; -- NULL: not checked yet
