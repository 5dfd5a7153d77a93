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

// Backup is the configuration of a backup.
type Backup struct {
	// Folder is the data folder. Another process may be using it.
	Folder string
	// File is the copy. It must not exist.
	File string
	// Progress, if not nil, is called after each step with the number of bytes copied and the total.
	Progress func(done, all int64)
}

// Backed is the result of a backup.
type Backed struct {
	Bytes int64
	// TakenAt is the time of the snapshot: all writes that were acknowledged before it are in the copy.
	TakenAt timer.Millis
}

const (
	// backupStep is how many pages of 4 KiB are copied between two checks of ctx. backupSync is how many are copied
	// before the file is synced: if gigabytes of it were in the page cache, commits of the service would wait for them.
	backupStep = 1000
	backupSync = 4 * backupStep
)

// Run copies the database into one file, from a snapshot, even while a service writes to it. The service does not wait
// for the backup, but until the backup ends the write-ahead log grows by everything that the service writes. Run opens
// the database like any other program and does not take the folder's lock.
//
// SQLite's backup starts again whenever another process has written. Run prevents this: it has one transaction open
// from beginning to end.
func (b *Backup) Run(ctx context.Context) (Backed, error) {
	source := filepath.Join(b.Folder, databaseName)
	if _, err := os.Stat(source); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Backed{}, fmt.Errorf("data folder %s holds no database: there is no %s in it", b.Folder, databaseName)
		}
		return Backed{}, fmt.Errorf("data folder %s cannot be read: %w", b.Folder, err)
	}
	// Reserve the name first. The complete copy is renamed to it.
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

// takeName creates an empty file. It fails if the file exists.
func takeName(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists already: choose another name, or remove it", name)
	case err != nil:
		return fmt.Errorf("%s cannot be created: %w", name, err)
	}
	return f.Close()
}

func (b *Backup) failed(err error) error {
	switch {
	case primary(err) == sqlite3.SQLITE_FULL, errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full: cannot write %s", b.File) // SQLite's error text is "not an error"
	case code(err) == sqlite3.SQLITE_IOERR_WRITE:
		return fmt.Errorf("%s cannot be written: %w", b.File, err)
	default:
		return fmt.Errorf("back up %s: %w", b.Folder, err)
	}
}

// copy copies the database into a new file and syncs it.
func (b *Backup) copy(ctx context.Context, source, to string) (backed Backed, err error) {
	if err := removeIfThere(to); err != nil { // left by a backup that was killed
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
	if err := c.one("SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER)", nil, &backed.TakenAt); err != nil {
		return Backed{}, err
	}
	err = c.snapshot(func() error {
		// The first read takes the snapshot.
		var tables int
		if err := c.one("SELECT count(*) FROM sqlite_schema", nil, &tables); err != nil {
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

// pages copies all pages.
func (b *Backup) pages(ctx context.Context, driver any, to string) error {
	source, ok := driver.(interface {
		NewBackup(uri string) (*sqlite.Backup, error)
	})
	if !ok {
		return fmt.Errorf("the driver's %T does not support backups", driver)
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(to)}
	// The copy needs no journal: if the backup fails, the file is removed.
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
			_ = run.Finish() // it returns the same error
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

// syncFile syncs a file or a folder to the disk.
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
