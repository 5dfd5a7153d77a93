-- Schema 14: namespaces keep the payloads of done timers.
--   made by, read and written by: Timerbus from 0.2
--   up from:   13
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
-- 0: payloads of done timers are not kept. In history, NULL is a payload that is not kept, and an empty one is none.
ALTER TABLE namespaces ADD COLUMN keep_payload_ns INTEGER NOT NULL DEFAULT 0;
