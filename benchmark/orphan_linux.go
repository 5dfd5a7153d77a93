package main

import "syscall"

// ownGroup keeps a Ctrl-C from reaching the children before this program has decided in which order they
// end. Should it die without telling them, they must not live on.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
