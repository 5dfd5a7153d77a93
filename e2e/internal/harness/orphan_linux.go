package harness

import "syscall"

// ownGroup keeps a Ctrl-C meant for the test or demo from reaching the service too: it is told in its
// turn. Should this process die without telling, as a test binary does that runs out of time, the
// service must not live on.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
