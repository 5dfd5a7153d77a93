package main

import "syscall"

// childAttributes puts servers into a separate process group, so that an interrupt from the terminal does not reach them
// and the command can still use them while it ends. They are killed when testenv ends for any reason.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
