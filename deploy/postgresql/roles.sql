-- PostgreSQL roles for the roles of Timerbus. Run this file in the database before the first `timerbus migrate up`, as a user who
-- may create roles and who owns the database; running it again changes nothing. After each migration run rights.sql.
--
-- The roles cannot log in. Give each process a user who is a member of its role:
--
--   CREATE ROLE orders_ingest LOGIN PASSWORD '…' IN ROLE timerbus_ingest;
--
-- timerbus_owner owns the tables. The user of `timerbus migrate up` is a member of it and acts as it:
-- postgres://USER:PASSWORD@HOST/DATABASE?role=timerbus_owner.

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['timerbus_owner', 'timerbus_ingest', 'timerbus_scheduler', 'timerbus_dispatcher'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- created at the same time, for another database
            END;
        END IF;
    END LOOP;
END $$;

GRANT USAGE, CREATE ON SCHEMA public TO timerbus_owner;
GRANT USAGE ON SCHEMA public TO timerbus_ingest, timerbus_scheduler, timerbus_dispatcher;
