package backend

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Backup copies the SQLite database of a data folder into one file, also while a service writes to it. The file must
// not exist. progress is called now and then with the bytes copied and the bytes in all. The copy has
// everything that was acknowledged before takenAt.
func Backup(ctx context.Context, folder, file string, progress func(done, all int64)) (bytes int64, takenAt timer.Millis, err error) {
	backup := sqlitestore.Backup{Folder: folder, File: file, Progress: progress}
	backed, err := backup.Run(ctx)
	return backed.Bytes, backed.TakenAt, err
}
