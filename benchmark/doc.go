// Command benchmark is run by `make bench`. In each round it starts the service on an empty folder, a receiver and the
// load generator as separate processes, and measures them with internal/bench. At the end it prints medians, spreads and
// aims, and writes all figures to a JSON file.
//
// It contains the course of a round, the aims and the report; internal/bench defines the measurements. It runs the same
// binary as users (timerbus dev, timerbus bench). A missed aim is a line of the table, and does not change the exit
// code.
//
// Read main.go, then round.go (one round); aims.go and report.go. Package host starts the processes and servers.
package main
