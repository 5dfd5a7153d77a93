-- Schema 8: claims and watermarks in separate tables.
--   oldest program that can work with it: Timerbus 0.2 (schema 8); older ones use the table shards, which is dropped
--   up from: 7; the rows of shards are copied
--
-- A watermark is written every second. While a transaction has an old snapshot, its dead versions cannot be removed,
-- and each lookup of the row reads all of them. So polls, which need the claim only, read a table that changes only
-- when a shard is claimed or released.

-- +goose Up
INSERT INTO schema_support VALUES (8, 8, '0.2');

-- A program that still runs must not claim or advance shards between the copy and the drop.
LOCK TABLE shards IN ACCESS EXCLUSIVE MODE;

-- The claim record of each shard. owner is NULL after the claim was released; the version is kept.
CREATE TABLE claims (
    shard_id       bigint         PRIMARY KEY,
    version        bigint         NOT NULL,
    owner          uuid,
    published_due  timestamptz(3) NOT NULL, -- P, a key of two parts
    published_uuid uuid           NOT NULL,
    claimed_at     timestamptz(3) NOT NULL,
    node           text           NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- One row for each row of claims. Only a transaction that has locked the row of claims writes it.
--
-- The key changes with every 16th write. The greatest key of a shard is its only live row, so at most 16 dead versions
-- are read before it, however many versions of older series an old snapshot keeps. The other 15 writes change no index.
-- With half of each page free, their versions are removed without a vacuum if there is no old snapshot.
CREATE TABLE watermarks (
    shard_id bigint         NOT NULL,
    writes   bigint         NOT NULL,
    series   bigint         NOT NULL GENERATED ALWAYS AS (writes / 16) STORED,
    due_at   timestamptz(3) NOT NULL, -- W, a key of two parts
    uuid     uuid           NOT NULL,
    PRIMARY KEY (shard_id, series)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

INSERT INTO claims SELECT shard_id, version, owner, published_due, published_uuid, claimed_at, node FROM shards;
INSERT INTO watermarks (shard_id, writes, due_at, uuid)
    SELECT shard_id, floor(random() * 16), watermark_due, watermark_uuid FROM shards;
DROP TABLE shards;
