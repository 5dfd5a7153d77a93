// Command benchmark is what `make bench` runs: in each round it starts the service on an empty folder, a
// receiver and the load generator as processes of their own, measures them with pkg/bench, and in the end
// prints medians, spreads and the aims beside them, and writes everything to a JSON file.
//
// It owns the course of a round, the aims and the report. What is measured and how is pkg/bench's; what it
// runs is the binary that users run (timerbus dev, timerbus bench). It never judges by exit code: a missed
// aim is a line of the table.
//
// Read main.go, then round.go (what happens in a round) and setup.go (on which engines) with
// servers.go (what starts them); process.go (children that do not outlive this program); aims.go, report.go, machine.go and
// others.go (whether the machine had other work).
package main
