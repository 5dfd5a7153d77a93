-- Schema 11: namespaces can be deleted.
--   made by, read and written by: Timerbus from 0.2
--   up from:   10
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
ALTER TABLE namespaces ADD COLUMN deleting_since INTEGER NOT NULL DEFAULT 0; -- ms; 0: it is not being deleted

-- The end of the highest block of a deleted namespace. No block is allocated twice.
CREATE TABLE removed_blocks (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    upto INTEGER NOT NULL
) STRICT;
INSERT INTO removed_blocks VALUES (1, 0);
