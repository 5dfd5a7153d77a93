-- Schema 20: 8 partitions of timers instead of 32.
--   oldest program that can work with it: Timerbus 0.2 (schema 9)
--   up from: 19; no row is rewritten. A table that contains timers keeps its partitions, until `timerbus migrate partitions` merges them
--
-- Each statement opens all partitions and their indexes, and a transaction locks them (docs/decisions/0087).

-- +goose Up
INSERT INTO schema_support VALUES (20, 9, '0.2');

-- Replaces the partitions of an empty table. partitions.go has the same storage parameters.
-- +goose StatementBegin
DO $$
DECLARE
    old regclass;
BEGIN
    LOCK TABLE timers IN ACCESS EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM timers) THEN
        RETURN;
    END IF;
    FOR old IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'timers'::regclass LOOP
        EXECUTE format('DROP TABLE %s', old);
    END LOOP;
    FOR i IN 0..7 LOOP
        EXECUTE format(
            'CREATE TABLE timers_%s PARTITION OF timers FOR VALUES WITH (MODULUS 8, REMAINDER %s)
             WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
                   autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2,
                   autovacuum_vacuum_cost_delay = 0)',
            i, i);
    END LOOP;
END $$;
-- +goose StatementEnd
