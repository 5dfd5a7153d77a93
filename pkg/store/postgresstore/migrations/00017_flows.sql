-- Schema 17: limits of flows, and the state of flows that dispatchers share.
--   oldest program that can work with it: Timerbus 0.2 (schema 9). Its dispatchers do not apply the limits, so set them only
--     after all processes are upgraded
--   up from: 16; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (17, 9, '0.2');

-- A JSON list of limits.
ALTER TABLE namespaces ADD COLUMN flows text;

-- Dispatchers update the row of a flow in use every second, so pages have room for new versions of the rows.
CREATE TABLE flows (
    namespace text COLLATE "C" NOT NULL,
    flow_key  text COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    state     text   NOT NULL, -- JSON
    PRIMARY KEY (namespace, flow_key)
) WITH (fillfactor = 50);
