-- Schema 11: API keys.
--   oldest program that can work with it: Timerbus 0.2 (schema 9); it accepts no API key
--   up from: 10; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (11, 9, '0.2');

CREATE TABLE api_keys (
    name    text   PRIMARY KEY,
    version bigint NOT NULL,
    body    text   NOT NULL -- JSON of grants and hashes
);
