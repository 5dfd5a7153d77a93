package harness

import "syscall"

// ownGroup prevents a Ctrl-C for the test or demo from reaching the service, which gets its signal from the test. If
// this process dies without stopping the service, such as a test binary that times out, the service is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
