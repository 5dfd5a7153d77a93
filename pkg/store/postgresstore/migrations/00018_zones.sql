-- Schema 18: namespaces record the version of the time zone database with which their local times were checked.
--   oldest program that can work with it: Timerbus 0.2 (schema 9). It does not keep the local times of timers that it changes, so use
--     them only after all processes are upgraded
--   up from: 17; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (18, 9, '0.2');

ALTER TABLE namespaces ADD COLUMN zone_version text; -- NULL: not checked yet
