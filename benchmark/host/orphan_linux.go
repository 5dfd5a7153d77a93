package host

import "syscall"

// ownGroup prevents a Ctrl-C from reaching the children, because this program stops them in a defined order. If it dies
// without stopping them, they are killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
