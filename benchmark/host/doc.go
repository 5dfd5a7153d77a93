// Package host starts what a benchmark measures, and reads the machine on which it does: child processes that end with the
// program, the servers of tools/testenv, the setups of the service, the machine's description and its processor time.
//
// The programs benchmark and benchmark/peers use it. It measures nothing itself and imports no package of the product.
//
// Read process.go, then servers.go, setup.go (the engines of the service) and service.go; machine.go and others.go (other
// work on the machine).
package host
