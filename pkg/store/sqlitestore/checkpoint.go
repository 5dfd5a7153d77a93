package sqlitestore

import (
	"log/slog"
	"os"
	"time"
)

// pauseMost is how long the writer waits for reads of this process to end before it truncates the write-ahead log.
const pauseMost = 50 * time.Millisecond

// walBound bounds the size of the write-ahead log.
//
// A commit that finds more than checkpointPages pages in the log copies them into the database file, except those that
// a snapshot still needs. The first commit after all pages were copied, and while no snapshot uses the log, starts
// again at its beginning. If snapshots overlap all the time, that never happens. So when the log is larger than limit,
// the writer pauses the reads of this process briefly and truncates the log.
//
// The writer does not wait for a snapshot of another process (a shell, a backup): the log grows until that snapshot
// ends.
type walBound struct {
	path    string
	limit   int64 // bytes
	retryAt int64 // bytes; the size for the next attempt after a failure
	blocked bool  // the last failure was logged
	readers *readers
	log     *slog.Logger
}

// keep runs in the writer's goroutine, between transactions. It truncates the log if it is too large.
func (b *walBound) keep(c *conn) {
	info, err := os.Stat(b.path)
	if err != nil {
		return
	}
	size := info.Size()
	if size <= b.limit {
		b.emptied(size)
		return
	}
	if size < b.retryAt {
		return
	}
	// Each failed attempt makes the next one later.
	b.retryAt = size + size/4
	// Reads continue while most of the log is copied.
	if _, err := c.checkpoint("PASSIVE"); err != nil {
		b.failed(size, err)
		return
	}
	resume, ok := b.readers.pause(pauseMost)
	if !ok {
		b.retryAt = size + b.limit/8 // a read of this process takes too long; the next attempt meets other reads
		return
	}
	defer resume()
	done, err := c.emptyLog()
	switch {
	case err != nil || !done:
		b.failed(size, err)
	default:
		b.emptied(0)
	}
}

// failed logs the first of consecutive failures. If err is nil, a snapshot of another process is the reason.
func (b *walBound) failed(size int64, err error) {
	if b.blocked {
		return
	}
	b.blocked = true
	if err == nil {
		b.log.Warn("write-ahead log cannot be emptied: another process reads the database", "path", b.path, "bytes", size)
		return
	}
	b.log.Warn("write-ahead log cannot be emptied", "path", b.path, "bytes", size, "error", err)
}

func (b *walBound) emptied(size int64) {
	if b.blocked {
		b.log.Info("write-ahead log emptied", "path", b.path, "bytes", size)
	}
	b.blocked, b.retryAt = false, 0
}

// checkpoint copies the log into the database file, as far as the mode allows. blocked is set if a reader or writer
// prevented part of it.
func (c *conn) checkpoint(mode string) (blocked bool, err error) {
	var busy, pages, moved int
	err = c.one("PRAGMA wal_checkpoint("+mode+")", nil, &busy, &pages, &moved)
	return busy != 0, err
}

// emptyLog copies the whole log and truncates its file. It does not wait: done is false if a snapshot of another
// process prevents it.
func (c *conn) emptyLog() (done bool, err error) {
	var set int
	if err := c.one("PRAGMA busy_timeout(0)", nil, &set); err != nil {
		return false, err
	}
	blocked, err := c.checkpoint("TRUNCATE")
	if reset := c.one("PRAGMA "+busyTimeout, nil, &set); err == nil {
		err = reset
	}
	return !blocked, err
}
