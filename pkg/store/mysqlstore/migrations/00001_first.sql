-- Schema 1: the first.
--   oldest program that can work with it: Timerbus 0.2 (schema 1)
--   up from: nothing
--
-- Times are milliseconds since 1970, UTC. A uuid has 16 bytes, ordered as unsigned bytes. Texts are stored as bytes, because
-- ids are compared as bytes, and collations ignore trailing blanks.
--
-- The big tables have no unique key besides their primary key: INSERT … ON DUPLICATE KEY UPDATE takes gap locks on a second one.
-- MySQL has no partial indexes. An index of few rows begins with a column that is NULL in all others.
--
-- MySQL commits after every statement that changes a table. Every statement here can therefore run again.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS schema_support (
    version        BIGINT        NOT NULL PRIMARY KEY,
    oldest_schema  BIGINT        NOT NULL,
    oldest_program VARBINARY(32) NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS cluster (
    one        TINYINT    NOT NULL PRIMARY KEY,
    id         BINARY(16) NOT NULL,
    partitions BIGINT     NOT NULL,
    created_at BIGINT     NOT NULL
) ENGINE = InnoDB;

-- Its only row is locked while a namespace is created.
CREATE TABLE IF NOT EXISTS namespace_lock (one TINYINT NOT NULL PRIMARY KEY) ENGINE = InnoDB;
INSERT IGNORE INTO namespace_lock VALUES (1);

-- Namespaces are never removed, so the next block begins at the end of the last one.
CREATE TABLE IF NOT EXISTS namespaces (
    name                 VARBINARY(255)  NOT NULL PRIMARY KEY,
    shard_base           BIGINT          NOT NULL UNIQUE,
    shard_count          BIGINT          NOT NULL,
    retry_policy         VARBINARY(255)  NOT NULL, -- see timers
    callback_timeout_ns  BIGINT          NOT NULL,
    history_retention_ns BIGINT          NOT NULL,
    dead_retention_ns    BIGINT          NOT NULL,
    headers              BLOB,            -- lines of "Name: value"
    final_statuses       VARBINARY(4096), -- '400 422'
    secrets              MEDIUMBLOB,      -- lines of id, created, expires (0: never), encrypted secret
    tls_ca               MEDIUMBLOB,      -- PEM, like tls_certificate
    tls_certificate      MEDIUMBLOB,
    tls_key              MEDIUMBLOB,      -- encrypted
    event_topics         BLOB,            -- patterns, separated by blanks
    host_concurrency     BIGINT          NOT NULL,
    version              BIGINT          NOT NULL,
    created_at           BIGINT          NOT NULL,
    updated_at           BIGINT          NOT NULL
) ENGINE = InnoDB;

-- The claim record of each shard. owner is NULL after the claim was released; the version is kept.
CREATE TABLE IF NOT EXISTS shards (
    shard_id       BIGINT         NOT NULL PRIMARY KEY,
    version        BIGINT         NOT NULL,
    owner          BINARY(16),
    node           VARBINARY(255) NOT NULL,
    watermark_due  BIGINT         NOT NULL, -- W, a key of two parts
    watermark_uuid BINARY(16)     NOT NULL,
    published_due  BIGINT         NOT NULL, -- P, a key of two parts
    published_uuid BINARY(16)     NOT NULL,
    claimed_at     BIGINT         NOT NULL
) ENGINE = InnoDB;

-- The last applied position of each partition of a command topic.
CREATE TABLE IF NOT EXISTS positions (
    topic       VARBINARY(255) NOT NULL,
    `partition` BIGINT         NOT NULL,
    incarnation BIGINT         NOT NULL,
    `offset`    BIGINT         NOT NULL,
    updated_at  BIGINT         NOT NULL,
    PRIMARY KEY (topic, `partition`)
) ENGINE = InnoDB;

-- Live timers.
CREATE TABLE IF NOT EXISTS timers (
    shard_id            BIGINT          NOT NULL,
    uuid                BINARY(16)      NOT NULL,
    namespace           VARBINARY(255)  NOT NULL,
    timer_id            VARBINARY(255)  NOT NULL,
    execute_at          BIGINT          NOT NULL,
    deliver             VARBINARY(16)   NOT NULL,
    callback_url        VARBINARY(2048) NOT NULL,
    callback_timeout_ms BIGINT          NOT NULL,
    -- maxAttempts maxAttemptsDuration initialInterval backoffMultiplier maxInterval: '4 0s 30s 2 1h0m0s'
    retry_policy        VARBINARY(255)  NOT NULL,
    payload             MEDIUMBLOB,
    correlation_id      VARBINARY(255), -- NULL if the user did not set one
    status              VARBINARY(16)   NOT NULL,
    due_at              BIGINT          NOT NULL,
    poll_at             BIGINT,         -- due_at, or NULL in a parked row, which polls and sweeps do not read
    revision            BIGINT          NOT NULL,
    generation          BIGINT          NOT NULL,
    attempts            BIGINT          NOT NULL,
    starts              BIGINT          NOT NULL,
    created_at          BIGINT          NOT NULL,
    updated_at          BIGINT          NOT NULL,
    executed_at         BIGINT          NOT NULL,
    last_status         BIGINT          NOT NULL,
    last_error          VARBINARY(512)  NOT NULL,
    headers             BLOB,
    topic               VARBINARY(255),
    event_key           VARBINARY(255),
    target              BIGINT          NOT NULL, -- identifies the host or the topic; 0: none
    marked_at           BIGINT,                   -- outbox entry of a parked timer
    planned_at          BIGINT,                   -- due_at before the first postponement or lease that moved it
    leased              TINYINT         NOT NULL, -- due_at is the end of a lease
    PRIMARY KEY (shard_id, uuid),
    KEY timers_due (shard_id, poll_at, uuid),
    KEY timers_status (status, shard_id, uuid, marked_at),
    KEY timers_correlation (correlation_id, shard_id, uuid),
    KEY timers_moved (planned_at, due_at, leased, status)
) ENGINE = InnoDB;

-- Attempts, each with the timer at that time. For done and dead this is the finished timer. Only dead timers keep the
-- payload, because they can be started again.
CREATE TABLE IF NOT EXISTS history (
    shard_id            BIGINT          NOT NULL,
    uuid                BINARY(16)      NOT NULL,
    generation          BIGINT          NOT NULL,
    attempt             BIGINT          NOT NULL,
    outcome             VARBINARY(16)   NOT NULL,
    next_at             BIGINT          NOT NULL,
    started_at          BIGINT          NOT NULL,
    finished_at         BIGINT          NOT NULL,
    status_code         BIGINT          NOT NULL,
    error               VARBINARY(512)  NOT NULL,
    expires_at          BIGINT          NOT NULL,
    purge_at            BIGINT,         -- expires_at, or NULL while there is an outbox entry
    marked_at           BIGINT,         -- outbox entry of a dead timer
    namespace           VARBINARY(255)  NOT NULL,
    timer_id            VARBINARY(255)  NOT NULL,
    execute_at          BIGINT          NOT NULL,
    deliver             VARBINARY(16)   NOT NULL,
    callback_url        VARBINARY(2048) NOT NULL,
    callback_timeout_ms BIGINT          NOT NULL,
    retry_policy        VARBINARY(255)  NOT NULL,
    payload             MEDIUMBLOB,
    correlation_id      VARBINARY(255),
    due_at              BIGINT          NOT NULL,
    revision            BIGINT          NOT NULL,
    created_at          BIGINT          NOT NULL,
    updated_at          BIGINT          NOT NULL,
    headers             BLOB,
    topic               VARBINARY(255),
    event_key           VARBINARY(255),
    PRIMARY KEY (shard_id, uuid, generation, attempt),
    KEY history_expiry (purge_at),
    KEY history_outcome (outcome, shard_id, uuid, generation, attempt, marked_at),
    KEY history_correlation (correlation_id, shard_id, uuid, generation, attempt)
) ENGINE = InnoDB;

-- The store writes a row here and removes it to test whether a full disk has space again. It is empty otherwise.
CREATE TABLE IF NOT EXISTS room (one TINYINT NOT NULL PRIMARY KEY, filler MEDIUMBLOB NOT NULL) ENGINE = InnoDB;

INSERT IGNORE INTO schema_support VALUES (1, 1, '0.2');
