-- Schema 7: a namespace has a version, for updates by compare-and-set.
--   oldest program that can work with it: Timerbus 0.2 (schema 6); an older one changes settings without changing the version
--   up from: 6; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (7, 6, '0.2');

ALTER TABLE namespaces ADD COLUMN version bigint NOT NULL DEFAULT 1;
