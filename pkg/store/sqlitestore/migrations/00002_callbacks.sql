-- Schema 2: settings of callbacks.
--   made by, read and written by: Timerbus from 0.2
--   up from:   1; no row is rewritten
--   down to:   nothing; to go back, restore a copy of the folder
--
-- headers are lines of "Name: value". Columns that are not set are NULL.

-- +goose Up
ALTER TABLE timers ADD COLUMN headers TEXT;
ALTER TABLE history ADD COLUMN headers TEXT;

ALTER TABLE namespaces ADD COLUMN headers TEXT;
ALTER TABLE namespaces ADD COLUMN retry_statuses TEXT;  -- '404 409'
ALTER TABLE namespaces ADD COLUMN secrets TEXT;         -- lines of id, created, expires (0: never), encrypted secret
ALTER TABLE namespaces ADD COLUMN tls_ca TEXT;          -- PEM, like tls_certificate
ALTER TABLE namespaces ADD COLUMN tls_certificate TEXT;
ALTER TABLE namespaces ADD COLUMN tls_key TEXT;         -- encrypted
