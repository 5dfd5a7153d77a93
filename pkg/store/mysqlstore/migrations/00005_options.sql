-- Schema 5: timers have options, and namespaces have URLs that are called when a timer is done or dead.
--   oldest program that can work with it: Timerbus 0.2 (schema 1). It ignores options: it calls a timer with a request as if it
--     had none, and keeps the options of a timer that it replaces. So use them only after all processes are upgraded
--   up from: 4; no row is rewritten

-- +goose NO TRANSACTION
-- +goose Up
-- Fields that few timers have, as a JSON object: method, contentType and reschedule of the request, windowMs,
-- expireMs, onDone, onDead.
-- A migration that was interrupted runs again, and MySQL has no ADD COLUMN IF NOT EXISTS.
SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'timers' AND column_name = 'options') = 0,
    'ALTER TABLE timers ADD COLUMN options BLOB',
    'DO 0');
PREPARE change_timers FROM @change;
EXECUTE change_timers;
DEALLOCATE PREPARE change_timers;

SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'history' AND column_name = 'options') = 0,
    'ALTER TABLE history ADD COLUMN options BLOB',
    'DO 0');
PREPARE change_history FROM @change;
EXECUTE change_history;
DEALLOCATE PREPARE change_history;

SET @change = IF(
    (SELECT count(*) FROM information_schema.columns
        WHERE table_schema = database() AND table_name = 'namespaces' AND column_name = 'on_done') = 0,
    'ALTER TABLE namespaces ADD COLUMN on_done MEDIUMBLOB, ADD COLUMN on_dead MEDIUMBLOB',
    'DO 0');
PREPARE change_namespaces FROM @change;
EXECUTE change_namespaces;
DEALLOCATE PREPARE change_namespaces;

INSERT IGNORE INTO schema_support VALUES (5, 1, '0.2');
