-- Schema 12: namespaces have quotas.
--   oldest program that can work with it: Timerbus 0.2 (schema 9); it does not enforce quotas
--   up from: 11; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (12, 9, '0.2');

ALTER TABLE namespaces ADD COLUMN max_pending bigint NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN creates_per_second bigint NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN max_payload bigint NOT NULL DEFAULT 0; -- bytes
