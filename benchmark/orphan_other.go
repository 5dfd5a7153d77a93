//go:build unix && !linux

package main

import "syscall"

// ownGroup keeps a Ctrl-C from reaching the children before this program has decided in which order they
// end.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
