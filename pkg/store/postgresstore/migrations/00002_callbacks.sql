-- Schema 2: settings of callbacks.
--   oldest program that can work with it: Timerbus 0.2 (schema 2); an older one would not sign
--   up from: 1; no row is rewritten
--
-- headers are lines of "Name: value". Columns that are not set are NULL.

-- +goose Up
INSERT INTO schema_support VALUES (2, 2, '0.2');

ALTER TABLE timers ADD COLUMN headers text;
ALTER TABLE timer_history ADD COLUMN headers text;

ALTER TABLE namespaces
    ADD COLUMN headers         text,
    ADD COLUMN retry_statuses  text, -- '404 409'
    ADD COLUMN secrets         text, -- lines of id, created, expires (0: never), encrypted secret
    ADD COLUMN tls_ca          text, -- PEM, like tls_certificate
    ADD COLUMN tls_certificate text,
    ADD COLUMN tls_key         text; -- encrypted
