-- Schema 13: namespaces can be deleted.
--   oldest program that can work with it: Timerbus 0.2 (schema 9). It accepts timers in a namespace that is being deleted, and
--     may allocate the block of a deleted one again, so delete namespaces only after all processes are upgraded
--   up from: 12; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (13, 9, '0.2');

ALTER TABLE namespaces ADD COLUMN deleting_since bigint NOT NULL DEFAULT 0; -- ms; 0: it is not being deleted

-- The end of the highest block of a deleted namespace. No block is allocated twice.
CREATE TABLE removed_blocks (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    upto bigint  NOT NULL
);
INSERT INTO removed_blocks (upto) VALUES (0);
