//go:build unix && !linux

package host

import "syscall"

// ownGroup prevents a Ctrl-C from reaching the children, because this program stops them in a defined order.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
