-- Schema 8: limits of flows, and the state of flows that dispatchers share.
--   oldest program that can work with it: Timerbus 0.2 (schema 1). Its dispatchers do not apply the limits, so set them only
--     after all processes are upgraded
--   up from: 7; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- A JSON list of limits.
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'flows') = 0,
    'ALTER TABLE namespaces ADD COLUMN flows MEDIUMBLOB',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

CREATE TABLE IF NOT EXISTS flows (
    namespace VARBINARY(255) NOT NULL,
    flow_key  VARBINARY(255) NOT NULL,
    version   BIGINT         NOT NULL,
    state     MEDIUMBLOB     NOT NULL, -- JSON
    PRIMARY KEY (namespace, flow_key)
) ENGINE = InnoDB;

INSERT IGNORE INTO schema_support VALUES (8, 1, '0.2');
