-- Schema 1: the first.
--   oldest program that can work with it: Timerbus 0.2 (schema 1)
--   up from: nothing
--
-- Times are timestamptz(3); a key that lies before or behind every instant has -infinity or infinity. The
-- uuid orders as unsigned bytes. Columns of fixed width come first, so that rows have no holes.

-- +goose Up
-- For each version, the oldest program that can work with it, told by the newest schema that program
-- knows. A program older than that refuses to start.
CREATE TABLE schema_support (
    version        bigint PRIMARY KEY,
    oldest_schema  bigint NOT NULL,
    oldest_program text   NOT NULL
);
INSERT INTO schema_support VALUES (1, 1, '0.2');

CREATE TABLE cluster (
    one        boolean        PRIMARY KEY DEFAULT true CHECK (one),
    id         uuid           NOT NULL,
    partitions integer        NOT NULL,
    created_at timestamptz(3) NOT NULL
);

-- Namespaces are never removed, so that the end of the last block is where the next one begins.
CREATE TABLE namespaces (
    name                 text           PRIMARY KEY,
    shard_base           bigint         NOT NULL UNIQUE,
    shard_count          bigint         NOT NULL CHECK (shard_count > 0),
    retry_policy         text           NOT NULL, -- see timers
    callback_timeout_ns  bigint         NOT NULL,
    history_retention_ns bigint         NOT NULL,
    created_at           timestamptz(3) NOT NULL,
    updated_at           timestamptz(3) NOT NULL
);

-- The fence of each shard. owner is NULL once the claim was released; the version stays. Watermarks move
-- all the time and no index holds them: with half a page free, that never touches an index.
CREATE TABLE shards (
    shard_id       bigint         PRIMARY KEY,
    version        bigint         NOT NULL,
    owner          uuid,
    watermark_due  timestamptz(3) NOT NULL, -- W, a key of two parts
    watermark_uuid uuid           NOT NULL,
    published_due  timestamptz(3) NOT NULL, -- P, likewise
    published_uuid uuid           NOT NULL,
    claimed_at     timestamptz(3) NOT NULL,
    updated_at     timestamptz(3) NOT NULL,
    node           text           NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- How far each partition of a command topic has been applied.
CREATE TABLE positions (
    topic       text           NOT NULL,
    partition   integer        NOT NULL,
    incarnation bigint         NOT NULL,
    "offset"    bigint         NOT NULL,
    updated_at  timestamptz(3) NOT NULL,
    PRIMARY KEY (topic, partition)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Live timers. The primary key is the order in which a shard is read; who knows a timer's uuid only goes
-- through the other key.
CREATE TABLE timers (
    shard_id            bigint         NOT NULL,
    due_at              timestamptz(3) NOT NULL,
    timer_uuid          uuid           NOT NULL,
    revision            bigint         NOT NULL,
    generation          bigint         NOT NULL,
    execute_at          timestamptz(3) NOT NULL,
    created_at          timestamptz(3) NOT NULL,
    updated_at          timestamptz(3) NOT NULL,
    executed_at         timestamptz(3), -- NULL until an attempt gave a result
    marked_at           timestamptz(3), -- parked and not announced yet
    callback_timeout_ms integer        NOT NULL,
    attempts            integer        NOT NULL,
    starts              integer        NOT NULL,
    last_status         integer        NOT NULL,
    status              text           NOT NULL,
    namespace           text           NOT NULL,
    timer_id            text           NOT NULL,
    deliver             text           NOT NULL,
    callback_url        text           NOT NULL,
    -- maxAttempts maxAttemptsDuration initialInterval backoffMultiplier maxInterval: '4 0s 30s 2 1h0m0s'
    retry_policy        text           NOT NULL,
    correlation_id      text, -- NULL when the user gave none
    last_error          text           NOT NULL,
    payload             bytea,
    PRIMARY KEY (shard_id, due_at, timer_uuid),
    UNIQUE (shard_id, timer_uuid)
) PARTITION BY HASH (shard_id);

CREATE INDEX timers_correlation ON timers (correlation_id, shard_id, timer_uuid) WHERE correlation_id IS NOT NULL;
CREATE INDEX timers_parked ON timers (shard_id) WHERE status = 'parked';
CREATE INDEX timers_marked ON timers (marked_at) WHERE marked_at IS NOT NULL;

-- Rows live for minutes: what they leave behind is vacuumed soon and without pauses, because a poll that
-- starts at a cursor still passes over dead index entries behind it.
-- +goose StatementBegin
DO $$
BEGIN
    FOR i IN 0..31 LOOP
        EXECUTE format(
            'CREATE TABLE timers_%s PARTITION OF timers FOR VALUES WITH (MODULUS 32, REMAINDER %s)
             WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
                   autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2,
                   autovacuum_vacuum_cost_delay = 0)',
            lpad(i::text, 2, '0'), i);
    END LOOP;
END $$;
-- +goose StatementEnd

-- Attempts, each with the timer as it stood then. For done and dead that is how the timer ended. The
-- payload is kept for dead ones only, which can be re-armed.
--
-- Partitions are days of expires_at, made ahead by Purge and dropped when their day is over. What no day
-- is there for goes to the default partition and is removed row by row.
--
-- (shard_id, timer_uuid, generation, attempt) is unique, though no index can say so across partitions:
-- history of a timer is written only by transactions that change its row (history.go).
CREATE TABLE timer_history (
    shard_id            bigint         NOT NULL,
    timer_uuid          uuid           NOT NULL,
    generation          bigint         NOT NULL,
    expires_at          timestamptz(3) NOT NULL,
    finished_at         timestamptz(3) NOT NULL,
    started_at          timestamptz(3) NOT NULL,
    execute_at          timestamptz(3) NOT NULL,
    due_at              timestamptz(3) NOT NULL,
    revision            bigint         NOT NULL,
    created_at          timestamptz(3) NOT NULL,
    updated_at          timestamptz(3) NOT NULL,
    next_at             timestamptz(3), -- NULL for done and dead
    marked_at           timestamptz(3), -- dead and not announced yet
    attempt             integer        NOT NULL,
    status_code         integer        NOT NULL,
    callback_timeout_ms integer        NOT NULL,
    outcome             text           NOT NULL,
    namespace           text           NOT NULL,
    timer_id            text           NOT NULL,
    deliver             text           NOT NULL,
    callback_url        text           NOT NULL,
    retry_policy        text           NOT NULL,
    correlation_id      text,
    error               text           NOT NULL,
    payload             bytea
) PARTITION BY RANGE (expires_at);

CREATE INDEX timer_history_key ON timer_history (shard_id, timer_uuid, generation, attempt);
CREATE INDEX timer_history_marked ON timer_history (marked_at) WHERE marked_at IS NOT NULL;
CREATE INDEX timer_history_correlation ON timer_history (correlation_id, shard_id, timer_uuid, generation, attempt)
    WHERE correlation_id IS NOT NULL;

CREATE TABLE timer_history_default PARTITION OF timer_history DEFAULT;
-- Purge passes over what is still marked.
CREATE INDEX timer_history_default_expiry ON timer_history_default (expires_at) WHERE marked_at IS NULL;
