-- The outbox of Timerbus for MySQL 8.0.16 or newer and MariaDB 10.6 or newer. Run it once in the database of your application.
-- docs/outbox.md explains the columns and the permissions.

-- One row is one command. Applications insert rows; Timerbus removes a row after it has applied or refused it.
CREATE TABLE timerbus_outbox (
    id          BIGINT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
    verb        VARCHAR(32) NOT NULL,
    -- The body of the command, as of POST /api/v1/timers/create, or of POST /api/v1/schedules/create for schedule.create. The type JSON
    -- would change numbers of the payload.
    body        MEDIUMTEXT  NOT NULL,
    -- A W3C trace context, so that the spans of the timer belong to the trace of the transaction.
    traceparent VARCHAR(255),
    -- UTC. executeIn counts from here.
    created_at  DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    CONSTRAINT timerbus_outbox_verb CHECK (verb IN ('create', 'update', 'delete', 'pause', 'resume',
        'schedule.create', 'schedule.update', 'schedule.delete', 'schedule.pause', 'schedule.resume', 'schedule.trigger',
        'schedule.backfill')),
    CONSTRAINT timerbus_outbox_body CHECK (JSON_VALID(body))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The batch of rows that Timerbus is applying. Exactly one row; applications do not use it.
CREATE TABLE timerbus_outbox_reader (
    only_row  TINYINT    NOT NULL PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
    outbox_id CHAR(36)   NOT NULL,
    batch     BIGINT     NOT NULL,
    row_ids   MEDIUMTEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT INTO timerbus_outbox_reader (outbox_id, batch, row_ids) VALUES (UUID(), 0, '[]');
