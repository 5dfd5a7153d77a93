-- Schema 1: the first.
--   made by, read and written by: Timerbus from 0.1
--   up from:   nothing
--   down to:   nothing; to go back, restore a copy of the folder
--
-- Times are milliseconds since 1970, UTC. The uuid is 16 bytes and orders as unsigned bytes. A rule of
-- the big tables: rows are appended, and keys are indexes beside them. Clustered by (shard, uuid) instead, a
-- finish costs a tenth less, but a put of 200 bytes costs 1.7 times and one of 1.5 KB twice as much.

-- +goose Up
PRAGMA application_id = 1414349395; -- "TMBS"

CREATE TABLE cluster (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    partitions INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Namespaces are never removed, so that the end of the last block is where the next one begins.
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

-- The fence of each shard. owner is NULL once the claim was released; the version stays.
CREATE TABLE shards (
    shard          INTEGER PRIMARY KEY,
    version        INTEGER NOT NULL,
    owner          BLOB CHECK (length(owner) = 16),
    node           TEXT    NOT NULL,
    watermark_due  INTEGER NOT NULL, -- W, a key of two parts
    watermark_uuid BLOB    NOT NULL,
    published_due  INTEGER NOT NULL, -- P, likewise
    published_uuid BLOB    NOT NULL,
    claimed_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT;

-- How far each partition of a command topic has been applied.
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
    correlation_id      TEXT, -- NULL when the user gave none
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
    marked_at           INTEGER -- parked and not announced yet
) STRICT;

CREATE UNIQUE INDEX timers_key ON timers (shard, uuid);
-- Partial, so that what is parked is neither seen nor passed over by poll and sweep.
CREATE INDEX timers_due ON timers (shard, due_at, uuid) WHERE status <> 'parked';
CREATE INDEX timers_correlation ON timers (correlation_id, shard, uuid) WHERE correlation_id IS NOT NULL;
CREATE INDEX timers_parked ON timers (shard) WHERE status = 'parked';
CREATE INDEX timers_marked ON timers (marked_at, shard) WHERE marked_at IS NOT NULL;

-- Attempts, each with the timer as it stood then. For done and dead that is how the timer ended. The
-- payload is kept for dead ones only, which can be re-armed.
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
    marked_at           INTEGER, -- dead and not announced yet
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
-- Purge passes over what is still marked.
CREATE INDEX history_expiry ON history (expires_at) WHERE marked_at IS NULL;
CREATE INDEX history_marked ON history (marked_at, shard) WHERE marked_at IS NOT NULL;
CREATE INDEX history_correlation ON history (correlation_id, shard, uuid, generation, attempt)
    WHERE correlation_id IS NOT NULL;
