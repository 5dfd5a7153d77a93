//go:build unix && !linux

package harness

import "syscall"

// ownGroup prevents a Ctrl-C for the test or demo from reaching the service.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
