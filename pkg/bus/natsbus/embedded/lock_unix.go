//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// lockFile locks the file for this process. It fails if another process has locked it.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
