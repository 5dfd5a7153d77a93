//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// lockFile takes the file for this process, or fails if another process has it.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
