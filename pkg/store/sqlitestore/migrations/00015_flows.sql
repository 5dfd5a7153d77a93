-- Schema 15: limits of flows, and the state of flows that dispatchers share.
--   made by, read and written by: Timerbus from 0.2
--   up from:   14
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
-- A JSON list of limits.
ALTER TABLE namespaces ADD COLUMN flows TEXT;

CREATE TABLE flows (
    namespace TEXT    NOT NULL,
    flow_key  TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    state     TEXT    NOT NULL, -- JSON
    PRIMARY KEY (namespace, flow_key)
) STRICT, WITHOUT ROWID;
