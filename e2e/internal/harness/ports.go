package harness

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken from below the range from which systems give out ports of outgoing connections: else
// one of these could hold a service's port in the moment between its kill and its restart.
const (
	firstPort = 17000
	lastPort  = 31999
)

var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// FreeAddress returns an address on this machine where nobody listens, another one at each call.
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
