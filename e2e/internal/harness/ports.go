package harness

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are below the range of ephemeral ports: otherwise an outgoing connection could get a service's port between its
// kill and its restart.
const (
	firstPort = 17000
	lastPort  = 31999
)

var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// FreeAddress returns an unused address on this machine, a different one for each call.
func FreeAddress() (string, error) {
	given.Lock()
	defer given.Unlock()
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if given.ports[port] {
			continue
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		probe, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		given.ports[port] = true
		return address, probe.Close()
	}
	return "", errors.New("no free port found")
}
