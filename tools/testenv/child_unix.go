//go:build unix && !linux

package main

import "syscall"

// childAttributes keep a terminal's interrupt away from servers, so that the command can still use them
// while it ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
