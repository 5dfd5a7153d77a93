-- Schema 4: namespaces can be deleted.
--   oldest program that can work with it: Timerbus 0.2 (schema 1). It accepts timers in a namespace that is being deleted, and
--     may allocate the block of a deleted one again, so delete namespaces only after all processes are upgraded
--   up from: 3; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'deleting_since') = 0,
    'ALTER TABLE namespaces ADD COLUMN deleting_since BIGINT NOT NULL DEFAULT 0',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

-- The end of the highest block of a deleted namespace. No block is allocated twice.
CREATE TABLE IF NOT EXISTS removed_blocks (
    one  TINYINT NOT NULL PRIMARY KEY,
    upto BIGINT  NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO removed_blocks VALUES (1, 0);

INSERT IGNORE INTO schema_support VALUES (4, 1, '0.2');
