-- Schema 1: the first.
--   oldest program that can work with it: Timerbus 0.2 (schema 1)
--   up from: nothing
--
-- Times are timestamptz(3). -infinity and infinity are before and after all times. The uuid is ordered as unsigned
-- bytes. Columns of fixed width come first, so that rows need no padding.

-- +goose Up
-- For each schema version: the oldest compatible program, identified by the newest schema that it supports. An older
-- program refuses to start.
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

-- Namespaces are never removed, so the next block begins at the end of the last one.
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

-- The claim record of each shard. owner is NULL after the claim was released; the version is kept. Watermarks change
-- all the time and are in no index: with half of each page free, their updates never change an index.
CREATE TABLE shards (
    shard_id       bigint         PRIMARY KEY,
    version        bigint         NOT NULL,
    owner          uuid,
    watermark_due  timestamptz(3) NOT NULL, -- W, a key of two parts
    watermark_uuid uuid           NOT NULL,
    published_due  timestamptz(3) NOT NULL, -- P, a key of two parts
    published_uuid uuid           NOT NULL,
    claimed_at     timestamptz(3) NOT NULL,
    updated_at     timestamptz(3) NOT NULL,
    node           text           NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The last applied position of each partition of a command topic.
CREATE TABLE positions (
    topic       text           NOT NULL,
    partition   integer        NOT NULL,
    incarnation bigint         NOT NULL,
    "offset"    bigint         NOT NULL,
    updated_at  timestamptz(3) NOT NULL,
    PRIMARY KEY (topic, partition)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Live timers. The primary key is the order in which a shard is read. Lookups by uuid only use the unique key.
CREATE TABLE timers (
    shard_id            bigint         NOT NULL,
    due_at              timestamptz(3) NOT NULL,
    timer_uuid          uuid           NOT NULL,
    revision            bigint         NOT NULL,
    generation          bigint         NOT NULL,
    execute_at          timestamptz(3) NOT NULL,
    created_at          timestamptz(3) NOT NULL,
    updated_at          timestamptz(3) NOT NULL,
    executed_at         timestamptz(3), -- NULL until an attempt has a result
    marked_at           timestamptz(3), -- outbox entry of a parked timer
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
    correlation_id      text, -- NULL if the user did not set one
    last_error          text           NOT NULL,
    payload             bytea,
    PRIMARY KEY (shard_id, due_at, timer_uuid),
    UNIQUE (shard_id, timer_uuid)
) PARTITION BY HASH (shard_id);

CREATE INDEX timers_correlation ON timers (correlation_id, shard_id, timer_uuid) WHERE correlation_id IS NOT NULL;
CREATE INDEX timers_parked ON timers (shard_id) WHERE status = 'parked';
CREATE INDEX timers_marked ON timers (marked_at) WHERE marked_at IS NOT NULL;

-- Rows live for minutes. Vacuum removes dead rows soon and without pauses, because a poll that starts at a cursor reads
-- the dead index entries after it.
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

-- Attempts, each with the timer at that time. For done and dead this is the finished timer. Only dead timers keep the
-- payload, because they can be re-armed.
--
-- Partitions are days of expires_at. Purge creates them in advance and drops them when their day is over. Rows without
-- a day's partition are in the default partition and are deleted row by row.
--
-- (shard_id, timer_uuid, generation, attempt) is unique, though no index can ensure that across partitions: history of
-- a timer is written only by transactions that change its row (history.go).
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
    marked_at           timestamptz(3), -- outbox entry of a dead timer
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
-- Purge does not remove rows with an outbox entry.
CREATE INDEX timer_history_default_expiry ON timer_history_default (expires_at) WHERE marked_at IS NULL;
