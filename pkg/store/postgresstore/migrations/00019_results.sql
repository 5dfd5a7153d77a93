-- Schema 19: namespaces select the attempts whose result events are published.
--   oldest program that can work with it: Timerbus 0.2 (schema 9). Its dispatchers publish the result event of each attempt
--   up from: 18; no row is rewritten

-- +goose Up
INSERT INTO schema_support VALUES (19, 9, '0.2');

ALTER TABLE namespaces ADD COLUMN results text NOT NULL DEFAULT 'all'; -- all, failures or off
