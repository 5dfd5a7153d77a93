//go:build unix && !linux

package harness

import "syscall"

// ownGroup keeps a Ctrl-C meant for the test or demo from reaching the service too.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
