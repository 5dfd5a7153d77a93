-- Schema 17: namespaces select the attempts whose result events are published.
--   made by, read and written by: Timerbus from 0.2
--   up from:   16
--   down to:   nothing; to go back, restore a copy of the folder

-- +goose Up
ALTER TABLE namespaces ADD COLUMN results TEXT NOT NULL DEFAULT 'all'; -- all, failures or off
