-- Schema 2: how callbacks go out.
--   oldest program that can work with it: Timerbus 0.2 (schema 2); an older one would not sign
--   up from: 1; no row is written anew
--
-- headers are lines of "Name: value". Everything is NULL where it is not set.

-- +goose Up
INSERT INTO schema_support VALUES (2, 2, '0.2');

ALTER TABLE timers ADD COLUMN headers text;
ALTER TABLE timer_history ADD COLUMN headers text;

ALTER TABLE namespaces
    ADD COLUMN headers         text,
    ADD COLUMN retry_statuses  text, -- '404 409'
    ADD COLUMN secrets         text, -- lines of id, created, expires (0: never), sealed
    ADD COLUMN tls_ca          text, -- PEM, like tls_certificate
    ADD COLUMN tls_certificate text,
    ADD COLUMN tls_key         text; -- sealed
