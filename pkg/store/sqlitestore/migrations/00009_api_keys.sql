-- Schema 9: API keys.
--   made by, read and written by: Timerbus from 0.2
--   up from:   8
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
CREATE TABLE api_keys (
    name    TEXT    NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL -- JSON of grants and hashes
) STRICT, WITHOUT ROWID;
