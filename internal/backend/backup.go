package backend

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Backup copies the SQLite database of a data folder into one file; a service may write to the database meanwhile. The
// file must not exist. Backup calls progress periodically with the number of bytes copied and the total. The copy
// contains everything that was acknowledged before takenAt.
func Backup(ctx context.Context, folder, file string, progress func(done, all int64)) (bytes int64, takenAt timer.Millis, err error) {
	backup := sqlitestore.Backup{Folder: folder, File: file, Progress: progress}
	backed, err := backup.Run(ctx)
	return backed.Bytes, backed.TakenAt, err
}
