-- Schema 1: the first.
--   made by, read and written by: Timerbus from 0.1
--   up from:   nothing
--   down to:   nothing; to go back, restore a copy of the folder
--
-- Times are milliseconds since 1970, UTC. The uuid has 16 bytes, ordered as unsigned bytes. The big tables have a
-- rowid, to which rows are appended, and separate indexes for their keys. With tables clustered by (shard, uuid), a
-- finish costs a tenth less, but a put of 200 bytes costs 1.7 times and one of 1.5 KB twice as much.

-- +goose Up
PRAGMA application_id = 1414349395; -- "TMBS"

CREATE TABLE cluster (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    partitions INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Namespaces are never removed, so the next block begins at the end of the last one.
CREATE TABLE namespaces (
    name                 TEXT    NOT NULL PRIMARY KEY,
    shard_base           INTEGER NOT NULL UNIQUE,
    shard_count          INTEGER NOT NULL CHECK (shard_count > 0),
    retry_policy         TEXT    NOT NULL, -- see timers
    callback_timeout_ns  INTEGER NOT NULL,
    history_retention_ns INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The claim record of each shard. owner is NULL after the claim was released; the version is kept.
CREATE TABLE shards (
    shard          INTEGER PRIMARY KEY,
    version        INTEGER NOT NULL,
    owner          BLOB CHECK (length(owner) = 16),
    node           TEXT    NOT NULL,
    watermark_due  INTEGER NOT NULL, -- W, a key of two parts
    watermark_uuid BLOB    NOT NULL,
    published_due  INTEGER NOT NULL, -- P, a key of two parts
    published_uuid BLOB    NOT NULL,
    claimed_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT;

-- The last applied position of each partition of a command topic.
CREATE TABLE positions (
    topic       TEXT    NOT NULL,
    partition   INTEGER NOT NULL,
    incarnation INTEGER NOT NULL,
    "offset"    INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
) STRICT, WITHOUT ROWID;

-- Live timers.
CREATE TABLE timers (
    rid                 INTEGER PRIMARY KEY,
    shard               INTEGER NOT NULL,
    uuid                BLOB    NOT NULL,
    namespace           TEXT    NOT NULL,
    timer_id            TEXT    NOT NULL,
    execute_at          INTEGER NOT NULL,
    deliver             TEXT    NOT NULL,
    callback_url        TEXT    NOT NULL,
    callback_timeout_ns INTEGER NOT NULL,
    -- maxAttempts maxAttemptsDuration initialInterval backoffMultiplier maxInterval: '4 0s 30s 2 1h0m0s'
    retry_policy        TEXT    NOT NULL,
    payload             BLOB,
    correlation_id      TEXT, -- NULL if the user did not set one
    status              TEXT    NOT NULL,
    due_at              INTEGER NOT NULL,
    revision            INTEGER NOT NULL,
    generation          INTEGER NOT NULL,
    attempts            INTEGER NOT NULL,
    starts              INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    executed_at         INTEGER NOT NULL,
    last_status         INTEGER NOT NULL,
    last_error          TEXT    NOT NULL,
    marked_at           INTEGER -- outbox entry of a parked timer
) STRICT;

CREATE UNIQUE INDEX timers_key ON timers (shard, uuid);
-- Partial, so that polls and sweeps never read parked rows.
CREATE INDEX timers_due ON timers (shard, due_at, uuid) WHERE status <> 'parked';
CREATE INDEX timers_correlation ON timers (correlation_id, shard, uuid) WHERE correlation_id IS NOT NULL;
CREATE INDEX timers_parked ON timers (shard) WHERE status = 'parked';
CREATE INDEX timers_marked ON timers (marked_at, shard) WHERE marked_at IS NOT NULL;

-- Attempts, each with the timer at that time. For done and dead this is the finished timer. Only dead timers keep the
-- payload, because they can be re-armed.
CREATE TABLE history (
    rid                 INTEGER PRIMARY KEY,
    shard               INTEGER NOT NULL,
    uuid                BLOB    NOT NULL,
    generation          INTEGER NOT NULL,
    attempt             INTEGER NOT NULL,
    outcome             TEXT    NOT NULL,
    next_at             INTEGER NOT NULL,
    started_at          INTEGER NOT NULL,
    finished_at         INTEGER NOT NULL,
    status_code         INTEGER NOT NULL,
    error               TEXT    NOT NULL,
    expires_at          INTEGER NOT NULL,
    marked_at           INTEGER, -- outbox entry of a dead timer
    namespace           TEXT    NOT NULL,
    timer_id            TEXT    NOT NULL,
    execute_at          INTEGER NOT NULL,
    deliver             TEXT    NOT NULL,
    callback_url        TEXT    NOT NULL,
    callback_timeout_ns INTEGER NOT NULL,
    retry_policy        TEXT    NOT NULL,
    payload             BLOB,
    correlation_id      TEXT,
    due_at              INTEGER NOT NULL,
    revision            INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX history_key ON history (shard, uuid, generation, attempt);
-- Purge does not remove rows with an outbox entry.
CREATE INDEX history_expiry ON history (expires_at) WHERE marked_at IS NULL;
CREATE INDEX history_marked ON history (marked_at, shard) WHERE marked_at IS NOT NULL;
CREATE INDEX history_correlation ON history (correlation_id, shard, uuid, generation, attempt)
    WHERE correlation_id IS NOT NULL;
