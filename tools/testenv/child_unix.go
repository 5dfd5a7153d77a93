//go:build unix && !linux

package main

import "syscall"

// childAttributes puts servers into a separate process group, so that an interrupt from the terminal does not reach them
// and the command can still use them while it ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
