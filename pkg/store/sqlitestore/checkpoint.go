package sqlitestore

import (
	"log/slog"
	"os"
	"time"
)

// walBound keeps the write-ahead log from growing without end.
//
// A commit that finds the log longer than checkpointPages moves it into the database file, as far as no
// running read still needs it; and when a commit finds it moved whole and no read on it, it starts over
// at the log's beginning. Under reads that always overlap, that moment may never come. Then, once in a
// while, the readers are held up until it does.
type walBound struct {
	path    string
	limit   int64 // bytes
	retryAt int64 // bytes; after a failure
	readers *readers
	log     *slog.Logger
}

// keep runs in the writer's goroutine, between transactions.
func (b *walBound) keep(c *conn) {
	info, err := os.Stat(b.path)
	if err != nil || info.Size() <= max(b.limit, b.retryAt) {
		return
	}
	resume, ok := b.readers.pause(time.Second)
	if !ok {
		return
	}
	defer resume()
	var blocked, pages, moved int
	_, err = c.one("PRAGMA wal_checkpoint(TRUNCATE)", nil, &blocked, &pages, &moved)
	if err != nil || blocked != 0 {
		// Another process reads, or the database file has no room. Not at every commit again.
		b.retryAt = info.Size() + b.limit/4
		b.log.Warn("write-ahead log cannot be emptied", "path", b.path, "pages", pages, "moved", moved, "error", err)
		return
	}
	b.retryAt = 0
}
