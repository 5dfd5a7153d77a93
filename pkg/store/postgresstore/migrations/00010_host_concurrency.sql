-- Schema 10: namespaces limit the concurrent callbacks to one host.
--   oldest program that can work with it: Timerbus 0.2 (schema 9); its namespaces get the default
--   up from: 9; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (10, 9, '0.2');

ALTER TABLE namespaces ADD COLUMN host_concurrency bigint NOT NULL DEFAULT 64;
