package sqlitestore

import (
	"log/slog"
	"os"
	"time"
)

// pauseMost is how long the writer waits for reads of this process to end before it empties the write-ahead log.
const pauseMost = 50 * time.Millisecond

// walBound keeps the write-ahead log from growing without end.
//
// A commit that finds the log longer than checkpointPages moves it into the database file, as far as no snapshot needs
// it, and the first commit that finds it moved whole and not in use starts over at the log's beginning. While snapshots
// overlap all the time, that never happens. So beyond limit, the reads of this process are paused for a moment.
//
// The writer does not wait for a snapshot of another process (a shell, a backup): the log grows until that one ends.
type walBound struct {
	path    string
	limit   int64 // bytes
	retryAt int64 // bytes; after a failure
	blocked bool  // the last failure was logged
	readers *readers
	log     *slog.Logger
}

// keep runs in the writer's goroutine, between transactions.
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
	// Each attempt that fails makes the next one rarer.
	b.retryAt = size + size/4
	// Reads continue while most of the log is moved.
	if _, err := c.checkpoint("PASSIVE"); err != nil {
		b.failed(size, err)
		return
	}
	resume, ok := b.readers.pause(pauseMost)
	if !ok {
		b.retryAt = size + b.limit/8 // a read of ours takes its time; the next attempt meets other reads
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

// failed logs the first failure of a run of them; without err, another process has a snapshot.
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

// checkpoint moves the log into the database file as far as the mode does. blocked means that something was in its way.
func (c *conn) checkpoint(mode string) (blocked bool, err error) {
	var busy, pages, moved int
	_, err = c.one("PRAGMA wal_checkpoint("+mode+")", nil, &busy, &pages, &moved)
	return busy != 0, err
}

// emptyLog moves the whole log and truncates its file. It does not wait: done is false if a snapshot of another process is
// in its way.
func (c *conn) emptyLog() (done bool, err error) {
	var set int
	if _, err := c.one("PRAGMA busy_timeout(0)", nil, &set); err != nil {
		return false, err
	}
	blocked, err := c.checkpoint("TRUNCATE")
	if _, reset := c.one("PRAGMA "+busyTimeout, nil, &set); err == nil {
		err = reset
	}
	return !blocked, err
}
