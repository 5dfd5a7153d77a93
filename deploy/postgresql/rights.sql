-- The rights of each role of Timerbus on the tables, and no others. Run it after each `timerbus migrate up`, before you start
-- processes of the new release, as the same user: a migration may create tables. It replaces all earlier rights of these roles on
-- tables, in one transaction, so processes may run meanwhile. Processes whose user lacks a right do not start, and name it.
-- roles.sql creates the roles.

BEGIN;

REVOKE ALL ON ALL TABLES IN SCHEMA public FROM timerbus_ingest, timerbus_scheduler, timerbus_dispatcher;

-- Every process checks the version of the schema, reads the namespaces and API keys, records the cluster if it is the first one,
-- and looks for space on the disk after a write failed because it was full.
GRANT SELECT ON timerbus_migrations, schema_support, cluster, namespaces, api_keys, timers, timer_history
    TO timerbus_ingest, timerbus_scheduler, timerbus_dispatcher;
GRANT INSERT ON cluster, room TO timerbus_ingest, timerbus_scheduler, timerbus_dispatcher;
GRANT DELETE ON room TO timerbus_ingest, timerbus_scheduler, timerbus_dispatcher;

-- ingest changes timers, namespaces and API keys, and stores its position in the topic of commands. To delete a namespace it
-- removes the claims of its shards and keeps their numbers.
GRANT SELECT ON claims, watermarks, positions, removed_blocks TO timerbus_ingest;
GRANT INSERT, UPDATE, DELETE ON timers, namespaces, api_keys TO timerbus_ingest;
GRANT DELETE ON timer_history TO timerbus_ingest;
GRANT INSERT, UPDATE ON positions TO timerbus_ingest;
GRANT UPDATE ON removed_blocks TO timerbus_ingest;
GRANT DELETE ON claims, watermarks TO timerbus_ingest;
-- It lists flows, and removes those of a deleted namespace.
GRANT SELECT, DELETE ON flows TO timerbus_ingest;

-- scheduler claims shards, moves their watermarks, and removes outbox entries. It counts dead timers.
GRANT SELECT, INSERT, UPDATE ON claims, watermarks TO timerbus_scheduler;
GRANT UPDATE (marked_at) ON timers, timer_history TO timerbus_scheduler;
GRANT SELECT ON timer_history_dead TO timerbus_scheduler;

-- dispatcher writes outcomes and follow-up timers, removes outbox entries, and deletes expired history row by row.
GRANT INSERT, UPDATE, DELETE ON timers TO timerbus_dispatcher;
GRANT INSERT, DELETE ON timer_history TO timerbus_dispatcher;
GRANT UPDATE (marked_at) ON timer_history, timer_history_default, timer_history_dead TO timerbus_dispatcher;
GRANT SELECT, DELETE ON timer_history_default, timer_history_dead TO timerbus_dispatcher;
-- Dispatchers share the state of flows.
GRANT SELECT, INSERT, UPDATE, DELETE ON flows TO timerbus_dispatcher;

COMMIT;
