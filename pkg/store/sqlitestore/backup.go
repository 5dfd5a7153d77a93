package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Backup says what to copy, and where to.
type Backup struct {
	// Folder is the data folder. It may be in use by another process.
	Folder string
	// File is the copy. It must not exist.
	File string
	// Progress, if not nil, is called now and then with the bytes copied and the bytes in all.
	Progress func(done, all int64)
}

// Backed is what a backup holds.
type Backed struct {
	Bytes int64
	// TakenAt is the time of the snapshot: everything that was acknowledged before it is in the copy.
	TakenAt timer.Millis
}

const (
	// backupStep is how many pages of 4 KiB are copied without looking at ctx, backupSync how many before the copy is
	// written through to the disk. If gigabytes of it gathered in memory, commits of the service would wait for them.
	backupStep = 1000
	backupSync = 4 * backupStep
)

// Run copies the database into one file, from a snapshot, also while a service writes to it. The service does not wait
// for it, but until it ends the write-ahead log grows by what the service writes. It opens the database like any other program
// and leaves the folder's lock alone.
//
// SQLite's own tools begin such a copy again whenever another process has written. That this one has a transaction open
// from beginning to end keeps SQLite from it.
func (b *Backup) Run(ctx context.Context) (Backed, error) {
	source := filepath.Join(b.Folder, databaseName)
	if _, err := os.Stat(source); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Backed{}, fmt.Errorf("data folder %s holds no database: there is no %s in it", b.Folder, databaseName)
		}
		return Backed{}, fmt.Errorf("data folder %s cannot be read: %w", b.Folder, err)
	}
	// The name is taken first. The copy gets it when it is whole.
	if err := takeName(b.File); err != nil {
		return Backed{}, err
	}
	partial := b.File + ".partial"
	backed, err := b.copy(ctx, source, partial)
	if err == nil {
		err = os.Rename(partial, b.File)
	}
	if err == nil {
		err = syncFile(filepath.Dir(b.File))
	}
	if err != nil {
		return Backed{}, errors.Join(b.failed(err), removeIfThere(b.File), removeIfThere(partial))
	}
	return backed, nil
}

// takeName makes an empty file, and no other program's file any different.
func takeName(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists already: name a file that does not, or remove it", name)
	case err != nil:
		return fmt.Errorf("%s cannot be made: %w", name, err)
	}
	return f.Close()
}

func (b *Backup) failed(err error) error {
	switch {
	case primary(err) == sqlite3.SQLITE_FULL, errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("there is no room for %s", b.File) // SQLite's text for it is "not an error"
	case code(err) == sqlite3.SQLITE_IOERR_WRITE:
		return fmt.Errorf("%s cannot be written: %w", b.File, err)
	default:
		return fmt.Errorf("back up %s: %w", b.Folder, err)
	}
}

// copy copies the database into a new file and writes it through to the disk.
func (b *Backup) copy(ctx context.Context, source, to string) (backed Backed, err error) {
	if err := removeIfThere(to); err != nil { // of a backup that was killed
		return Backed{}, err
	}
	db, err := openDB(source, 1, "query_only(1)")
	if err != nil {
		return Backed{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkOurs(ctx, db); err != nil {
		return Backed{}, fmt.Errorf("%s: %w", source, err)
	}
	c, err := connect(ctx, db)
	if err != nil {
		return Backed{}, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err := c.one("SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER)", nil, &backed.TakenAt); err != nil {
		return Backed{}, err
	}
	err = c.snapshot(func() error {
		// The first read takes the snapshot.
		var tables int
		if _, err := c.one("SELECT count(*) FROM sqlite_schema", nil, &tables); err != nil {
			return err
		}
		return c.sql.Raw(func(driver any) error { return b.pages(ctx, driver, to) })
	})
	if err != nil {
		return Backed{}, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return Backed{}, err
	}
	backed.Bytes = info.Size()
	return backed, nil
}

// pages copies page by page.
func (b *Backup) pages(ctx context.Context, driver any, to string) error {
	source, ok := driver.(interface {
		NewBackup(uri string) (*sqlite.Backup, error)
	})
	if !ok {
		return fmt.Errorf("the driver's %T makes no backups", driver)
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(to)}
	// The copy has no use for a journal: it is whole in the end, or removed.
	run, err := source.NewBackup(name.String() + "?_pragma=journal_mode(off)&_pragma=synchronous(off)")
	if err != nil {
		return err
	}
	for copied, more := 0, true; more; copied += backupStep {
		if more, err = run.Step(backupStep); err == nil {
			err = ctx.Err()
		}
		if err == nil && copied%backupSync == 0 {
			err = syncFile(to)
		}
		if err != nil {
			_ = run.Finish() // it repeats the error
			return err
		}
		if b.Progress != nil {
			all := int64(run.PageCount())
			b.Progress((all-int64(run.Remaining()))*pageSize, all*pageSize)
		}
	}
	if err := run.Finish(); err != nil {
		return err
	}
	return syncFile(to)
}

// syncFile writes a file or a folder through to the disk.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) { // some systems cannot sync a folder
		err = nil
	}
	return errors.Join(err, f.Close())
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
