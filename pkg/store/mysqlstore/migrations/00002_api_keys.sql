-- Schema 2: API keys.
--   oldest program that can work with it: Timerbus 0.2 (schema 1); it accepts no API key
--   up from: 1; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS api_keys (
    name    VARBINARY(255) NOT NULL PRIMARY KEY,
    version BIGINT         NOT NULL,
    body    MEDIUMBLOB     NOT NULL -- JSON of grants and hashes
) ENGINE = InnoDB;

INSERT IGNORE INTO schema_support VALUES (2, 1, '0.2');
